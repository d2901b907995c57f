// fingerprint/no_cuda.cpp - the CUDA functions of a program that was built without CUDA. Nobody
// gets as far as calling one, because no CUDA device can be opened.
#include "fingerprint/batch_verification.h"
#include "kernels/device.h"

namespace spintag::fingerprint::cuda {

std::vector<Settled> settle_offsets(kernels::Device& device, std::span<const VerifyWindow>, double,
                                    std::span<const VerifyRequest>) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<Verdict> verify(kernels::Device& device, std::span<const VerifyWindow>, double,
                            std::span<const VerifyRequest>, bool) {
  throw kernels::DeviceError(device.name() + ": this program was built without CUDA");
}

}  // namespace spintag::fingerprint::cuda
