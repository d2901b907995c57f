// kernels/resident.h - an array that many calls read, and that goes to a CUDA device once.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/device.h"

namespace spintag::kernels {

namespace cuda {
/// A copy in the memory of a CUDA device, whose context it keeps alive. Null if there are no bytes.
/// @throws DeviceError if there is no room for it
std::shared_ptr<const std::byte> device_copy(Device& device, std::span<const std::byte> bytes);
}  // namespace cuda

/// An array of the caller's, which outlives this, and on a CUDA device a copy of it as it was when
/// this was made. Copies of this share that.
template <class T>
class Resident {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Resident() = default;
  /// @throws DeviceError if the device has no room for it
  Resident(Device& device, std::span<const T> values) : values_(values) {
    if (device.is_cuda()) copy_ = cuda::device_copy(device, std::as_bytes(values));
  }

  std::span<const T> values() const noexcept { return values_; }
  /// For CUDA code; null on the processor.
  const T* on_device() const noexcept { return reinterpret_cast<const T*>(copy_.get()); }

 private:
  std::span<const T> values_;
  std::shared_ptr<const std::byte> copy_;
};

}  // namespace spintag::kernels
