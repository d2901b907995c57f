// kernels/device.cu - asks the CUDA driver what devices there are.
#include <cuda_runtime_api.h>

#include <utility>

#include "kernels/device.h"

namespace spintag::kernels {
namespace {

/// The runtime is linked statically and loads the driver itself: without one it answers, and
/// nothing fails to start.
std::string reason(cudaError_t error, int driver_version) {
  if (driver_version == 0) return "no NVIDIA driver is installed";
  if (error == cudaErrorNoDevice) return "the NVIDIA driver sees no device";
  return cudaGetErrorString(error);
}

}  // namespace

CudaDevices list_cuda_devices() {
  CudaDevices found;
  cudaRuntimeGetVersion(&found.runtime_version);
  cudaDriverGetVersion(&found.driver_version);
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  for (int index = 0; error == cudaSuccess && index < count; ++index) {
    cudaDeviceProp properties{};
    error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) break;
    DeviceInfo info;
    info.index = index;
    info.name = properties.name;
    info.memory_bytes = properties.totalGlobalMem;
    info.compute_major = properties.major;
    info.compute_minor = properties.minor;
    found.devices.push_back(std::move(info));
  }
  cudaGetLastError();  // the next caller of the runtime starts with a clean slate
  if (found.devices.empty()) {
    found.none_because =
        reason(error == cudaSuccess ? cudaErrorNoDevice : error, found.driver_version);
  }
  return found;
}

}  // namespace spintag::kernels
