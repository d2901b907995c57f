// kernels/cuda/context.cuh - a CUDA device as the kernels use it: a stream, memory that frees
// itself, errors as exceptions, launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/launch.cuh"
#include "kernels/device.h"

namespace spintag::kernels::cuda {

/// One device and one stream on it. Work is ordered by the stream; a call that returns results to
/// the host waits for them itself. One caller at a time.
class Context {
 public:
  explicit Context(int index);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::string& name() const { return name_; }  ///< "cuda:N"
  cudaStream_t stream() const { return stream_; }
  int multiprocessors() const { return multiprocessors_; }
  /// Shared memory that one block may have, bytes.
  std::size_t shared_bytes_per_block() const { return shared_bytes_per_block_; }
  std::size_t shared_bytes_per_multiprocessor() const { return shared_bytes_per_multiprocessor_; }

  /// Makes this device the calling thread's. Every public entry does so first.
  void make_current() const;
  void synchronize() const;
  /// Device memory that an allocation may take now, bytes.
  std::size_t free_bytes() const;

  /// @throws DeviceError "cuda:0: DOING: what CUDA says" unless `status` is success
  void check(cudaError_t status, const char* doing) const {
    if (status != cudaSuccess) fail(status, doing);
  }

 private:
  [[noreturn]] void fail(cudaError_t status, const char* doing) const;

  std::string name_;
  int index_;
  cudaStream_t stream_ = nullptr;
  int multiprocessors_ = 0;
  std::size_t shared_bytes_per_block_ = 0;
  std::size_t shared_bytes_per_multiprocessor_ = 0;
};

/// Device memory of `size()` values that nobody has written yet. Taken and freed in stream order
/// from the context's pool, so that taking it again costs little.
template <class T>
class Array {
 public:
  Array() = default;
  Array(std::shared_ptr<Context> context, std::size_t size) : context_(std::move(context)) {
    allocate(size);
  }
  Array(std::shared_ptr<Context> context, std::span<const T> values)
      : Array(std::move(context), values.size()) {
    upload(values);
  }
  ~Array() { free(); }
  Array(Array&& other) noexcept
      : context_(std::move(other.context_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    if (this != &other) {
      free();
      context_ = std::move(other.context_);
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Copies from the host, which may change `values` as soon as this returns.
  void upload(std::span<const T> values) {
    if (values.empty()) return;
    context_->check(cudaMemcpyAsync(data_, values.data(), values.size_bytes(),
                                    cudaMemcpyHostToDevice, context_->stream()),
                    "copying to the device");
  }
  /// Copies the first values.size() of them to the host and waits for it.
  void download(std::span<T> values) const {
    if (!values.empty()) {
      context_->check(cudaMemcpyAsync(values.data(), data_, values.size_bytes(),
                                      cudaMemcpyDeviceToHost, context_->stream()),
                      "copying from the device");
    }
    context_->synchronize();
  }
  std::vector<T> download(std::size_t count) const {
    std::vector<T> values(count);
    download(std::span<T>(values));
    return values;
  }
  std::vector<T> download() const { return download(size_); }
  void fill_bytes(int byte) {
    if (size_ == 0) return;
    context_->check(cudaMemsetAsync(data_, byte, size_ * sizeof(T), context_->stream()),
                    "filling memory");
  }

 private:
  void allocate(std::size_t size) {
    if (size == 0) return;
    void* memory = nullptr;
    context_->check(cudaMallocAsync(&memory, size * sizeof(T), context_->stream()),
                    "taking memory");
    data_ = static_cast<T*>(memory);
    size_ = size;
  }
  void free() noexcept {
    if (data_ != nullptr) cudaFreeAsync(data_, context_->stream());
    data_ = nullptr;
    size_ = 0;
  }

  std::shared_ptr<Context> context_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Host memory that the device copies from at full speed. Taking it is slow: keep it.
template <class T>
class HostArray {
 public:
  HostArray() = default;
  ~HostArray() { cudaFreeHost(data_); }
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;

  /// Room for `size` values; what it held is lost if it has to grow.
  void reserve(const std::shared_ptr<Context>& context, std::size_t size) {
    if (size <= size_) return;
    cudaFreeHost(std::exchange(data_, nullptr));
    size_ = 0;
    void* memory = nullptr;
    context->check(cudaMallocHost(&memory, size * sizeof(T)), "taking host memory");
    data_ = static_cast<T*>(memory);
    size_ = size;
  }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Queues kernel(arguments...) on the context's stream. An empty grid is no launch.
/// @param shared_bytes  dynamic shared memory of a block
/// @throws DeviceError if it cannot start; what goes wrong later is told by the next call that
/// waits
template <class... Parameters, class... Arguments>
void launch(const Context& context, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            std::size_t shared_bytes, Arguments&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  context.check(start_kernel(kernel, grid, block, shared_bytes, context.stream(),
                             static_cast<Parameters>(std::forward<Arguments>(arguments))...),
                "starting a kernel");
}

}  // namespace spintag::kernels::cuda
