// tests/bench/cuda/main.cu - bench_cuda: every CUDA kernel beside its bound.
#include <cstdio>
#include <cstring>
#include <string>

#include "kernels/device.h"
#include "tests/bench/cuda/bench.cuh"

namespace {

struct Part {
  const char* name;
  void (*run)(spintag::bench::Bench&);
};
constexpr Part kParts[] = {
    {"landmarks", spintag::bench::bench_landmarks},
    {"verification", spintag::bench::bench_verification},
    {"sliding_max", spintag::bench::bench_sliding_max},
    {"peaks", spintag::bench::bench_peaks},
    {"stft", spintag::bench::bench_stft},
    {"extraction", spintag::bench::bench_extraction},
    {"warping", spintag::bench::bench_warping},
};

}  // namespace

/// bench_cuda [--quick] [PART...]
int main(int argc, char** argv) {
  bool quick = false;
  std::string wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else {
      wanted += std::string(" ") + argv[i] + " ";
    }
  }
  try {
    spintag::bench::Bench bench(spintag::kernels::cuda::open_context(0), quick);
    for (const Part& part : kParts) {
      if (wanted.empty() || wanted.find(std::string(" ") + part.name + " ") != std::string::npos) {
        part.run(bench);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cuda: %s\n", error.what());
    return 3;
  }
  return 0;
}
