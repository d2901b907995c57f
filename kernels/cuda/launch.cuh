// kernels/cuda/launch.cuh - starts a kernel without CUDA's own launch syntax, so that one function
// checks every launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace spintag::kernels::cuda {

/// @return what cudaLaunchKernel says
template <class... Parameters>
cudaError_t start_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                         std::size_t shared_bytes, cudaStream_t stream, Parameters... arguments) {
  constexpr std::size_t kWithoutAsking = 48 * 1024;  // more has to be asked for
  const auto* const function = reinterpret_cast<const void*>(kernel);
  if (shared_bytes > kWithoutAsking) {
    const cudaError_t status = cudaFuncSetAttribute(
        function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
    if (status != cudaSuccess) return status;
  }
  void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
  return cudaLaunchKernel(function, grid, block, pointers, shared_bytes, stream);
}

#ifdef __CUDACC__
/// The dynamic shared memory of this block, at most 16-byte aligned.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char memory[];
  return reinterpret_cast<T*>(memory);
}
#endif

}  // namespace spintag::kernels::cuda
