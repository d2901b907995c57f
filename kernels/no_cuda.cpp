// kernels/no_cuda.cpp - what a program that was built without CUDA says about CUDA devices.
#include "kernels/device.h"

namespace spintag::kernels {

CudaDevices list_cuda_devices() {
  CudaDevices found;
  found.none_because = "this program was built without CUDA";
  return found;
}

}  // namespace spintag::kernels
