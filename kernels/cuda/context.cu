// kernels/cuda/context.cu - opening a device, and what its errors are called.
#include "kernels/cuda/context.cuh"

#include <limits>

namespace spintag::kernels::cuda {
namespace {

/// Memory that was freed stays with the process, so that the next batch takes it without asking the
/// driver.
cudaError_t keep_freed_memory(int index) {
  cudaMemPool_t pool = nullptr;
  const cudaError_t status = cudaDeviceGetDefaultMemPool(&pool, index);
  if (status != cudaSuccess) return status;
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
}

}  // namespace

Context::Context(int index) : name_("cuda:" + std::to_string(index)), index_(index) {
  make_current();
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "asking for its properties");
  constexpr int kOldestMajor = 8;  // the oldest architecture that this program has code for
  if (properties.major < kOldestMajor) {
    throw DeviceError(name_ + ": " + properties.name + " has compute capability " +
                      std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                      ", and this program needs 8.0 or newer (try --device cpu)");
  }
  multiprocessors_ = properties.multiProcessorCount;
  shared_bytes_per_block_ = properties.sharedMemPerBlockOptin;
  shared_bytes_per_multiprocessor_ = properties.sharedMemPerMultiprocessor;
  check(keep_freed_memory(index), "setting up its memory");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

Context::~Context() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void Context::make_current() const { check(cudaSetDevice(index_), "choosing the device"); }

void Context::synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for its work"); }

std::size_t Context::free_bytes() const {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for its free memory");
  cudaMemPool_t pool = nullptr;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  check(cudaDeviceGetDefaultMemPool(&pool, index_), "asking for its free memory");
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved),
        "asking for its free memory");
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used),
        "asking for its free memory");
  return free + (reserved - used);
}

void Context::fail(cudaError_t status, const char* doing) const {
  cudaGetLastError();  // an error that is not sticky must not be told twice
  std::string message = name_ + ": " + doing + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) message += " (try --device cpu)";
  throw DeviceError(message);
}

std::shared_ptr<Context> open_context(int index) {
  const CudaDevices found = list_cuda_devices();
  const std::string name = "cuda:" + std::to_string(index);
  if (found.devices.empty()) {
    throw DeviceError(name + ": " + found.none_because + " (try auto or cpu)");
  }
  if (index < 0 || static_cast<std::size_t>(index) >= found.devices.size()) {
    throw DeviceError(name + " is not there: this machine has " +
                      std::to_string(found.devices.size()) + " CUDA device(s), from cuda:0 on");
  }
  return std::make_shared<Context>(index);
}

}  // namespace spintag::kernels::cuda
