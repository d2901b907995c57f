// fingerprint/no_cuda.cpp - the CUDA functions of a program that was built without CUDA. Nobody
// gets as far as calling one, because no CUDA device can be opened.
#include "fingerprint/batch_extractor.h"
#include "fingerprint/batch_verification.h"
#include "fingerprint/cuda/batch_matcher.h"
#include "fingerprint/cuda/lists.h"
#include "fingerprint/melody/alignment_costs.h"
#include "kernels/device.h"

namespace spintag::fingerprint::cuda {

std::vector<float> alignment_costs(kernels::Device& device, const Contour&,
                                   std::span<const SungMelody>, const NoteAlignmentParams&) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<Extraction> extract(kernels::Device& device, std::span<const std::span<const float>>,
                                Wanted) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<Extraction> find_dense_peaks(kernels::Device& device,
                                         std::span<const std::span<const float>>, Wanted) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<Settled> settle_offsets(kernels::Device& device, std::span<const VerifyWindow>,
                                    std::span<const VerifyRequest>) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<Verdict> verify(kernels::Device& device, std::span<const VerifyWindow>,
                            std::span<const VerifyRequest>, bool) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<std::vector<Peak>> select_strongest(kernels::Device& device,
                                                std::span<const std::span<const Peak>>,
                                                std::span<const TimeRange>, int) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<std::vector<Probe>> make_query_probes(kernels::Device& device,
                                                  std::span<const std::span<const Peak>>,
                                                  std::span<const double>, const Hypothesis&,
                                                  const Softness&) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<PackedPeaks> make_references(kernels::Device& device,
                                         std::span<const std::span<const Peak>>) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<std::vector<Landmark>> make_reference_landmarks(
    kernels::Device& device, std::span<const std::span<const Peak>>) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<std::vector<DejavuLandmark>> dejavu_landmarks(
    kernels::Device& device, std::span<const std::span<const kernels::Peak>>,
    const DejavuProfile&) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<std::vector<Nomination>> count_votes(kernels::Device& device, const IndexShard&,
                                                 std::span<const std::span<const Probe>>,
                                                 std::uint32_t, std::size_t, std::uint32_t) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::unique_ptr<BatchMatcher> make_batch_matcher(kernels::Device& device) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

}  // namespace spintag::fingerprint::cuda
