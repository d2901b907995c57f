// kernels/no_cuda.cpp - what a program that was built without CUDA says about CUDA devices.
#include "kernels/device.h"
#include "kernels/linear_scaling.h"
#include "kernels/peaks.h"
#include "kernels/resident.h"
#include "kernels/scan.h"
#include "kernels/sliding_max.h"
#include "kernels/stft.h"
#include "kernels/warping.h"

namespace spintag::kernels {

CudaDevices list_cuda_devices() {
  CudaDevices found;
  found.none_because = "this program was built without CUDA";
  return found;
}

namespace cuda {

class Context {};

std::shared_ptr<Context> open_context(int index) {
  throw DeviceError("cuda:" + std::to_string(index) +
                    ": this program was built without CUDA (try auto or cpu)");
}

std::vector<std::uint32_t> exclusive_sums(Device& device, std::span<const std::uint32_t>) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

std::shared_ptr<const std::byte> device_copy(Device& device, std::span<const std::byte>) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<ScalingHit> linear_scaling(Device& device, const ResidentSequences&,
                                       std::span<const std::vector<float>>,
                                       std::span<const std::uint32_t>, const ScalingParams&) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<float> median_levels(Device& device, const ResidentSequences&,
                                 std::span<const std::vector<float>>, std::span<const ScalingHit>) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<std::uint16_t> warping_distances(Device& device, const Resident<std::int16_t>&,
                                             std::span<const std::int16_t>,
                                             std::span<const WarpingCandidate>,
                                             const WarpingParams&) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<float> power_spectrogram(Device& device, const StftParams&,
                                     std::span<const std::span<const float>>) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<float> level_spectrogram(Device& device, const StftParams&, float,
                                     std::span<const std::span<const float>>) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

void sliding_max(Device& device, SpectrogramView, const Footprint&, std::span<float>) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

std::vector<Peak> find_peaks(Device& device, SpectrogramView, const PeakParams&) {
  throw DeviceError(device.name() + ": this program was built without CUDA");
}

}  // namespace cuda
}  // namespace spintag::kernels
