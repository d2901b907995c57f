// tests/unit/fingerprint/cuda_fault_check.cu - a device that fails in mid-run throws, and the
// processor goes on. A program of its own: CUDA gives a process no second chance after a fault.
#include <cstdio>
#include <span>
#include <vector>

#include "fingerprint/batch_extractor.h"
#include "fingerprint/batch_matcher.h"
#include "fingerprint/reference.h"
#include "kernels/cuda/context.cuh"
#include "tests/unit/fingerprint/test_music.h"

namespace {

using namespace spintag;
using namespace spintag::fingerprint;

__global__ void write_to_nowhere(int* nowhere) { *nowhere = 1; }

/// @return what went wrong; null if nothing did
const char* fail_and_go_on() {
  kernels::Device cuda = kernels::Device::open({kernels::DeviceChoice::Kind::kCuda, 0});
  const std::vector<float> samples = make_music(7, 12);
  const std::vector<Peak> peaks = peaks_of(samples);
  const PackedPeaks packed = make_reference(peaks);
  const auto index = Index::build(std::vector<IndexTrack>{{1, 12, packed, ""}});
  const std::vector<MatchQuery> queries{{peaks, 2, 8}};

  BatchMatcher on_device(cuda);
  if (on_device.match(index, queries)[0].size() != 1) return "the device did not find the song";
  kernels::cuda::launch(cuda.context(), write_to_nowhere, dim3(1), dim3(1), 0, nullptr);
  try {
    on_device.match(index, queries);
    return "matching on a failed device did not throw";
  } catch (const kernels::DeviceError& error) {
    std::printf("matching: %s\n", error.what());
  }
  try {
    const std::vector<std::span<const float>> recordings{samples};
    extract(cuda, recordings, Wanted::peaks_and_levels);
    return "extraction on a failed device did not throw";
  } catch (const kernels::DeviceError& error) {
    std::printf("extraction: %s\n", error.what());
  }
  kernels::Device cpu = kernels::Device::cpu();
  if (BatchMatcher(cpu).match(index, queries)[0].size() != 1) return "the processor did not go on";
  return nullptr;
}

}  // namespace

int main() {
  constexpr int kSkipped = 77;
  const auto found = kernels::list_cuda_devices();
  if (found.devices.empty()) {
    std::printf("skipped: no CUDA device: %s\n", found.none_because.c_str());
    return kSkipped;
  }
  const char* const wrong = fail_and_go_on();
  std::printf("%s\n", wrong == nullptr ? "the processor went on" : wrong);
  return wrong == nullptr ? 0 : 1;
}
