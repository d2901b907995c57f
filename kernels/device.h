// kernels/device.h - where the kernels run: this machine's processor or a CUDA device.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spintag::kernels {

namespace cuda {
class Context;
}

/// A device that was asked for wrongly, is not there, or failed. The message says what to do. After
/// a device failed in the middle of its work, what it was asked for can be asked of Device::cpu().
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a `--device` text says.
struct DeviceChoice {
  enum class Kind { kAuto, kCpu, kCuda };
  Kind kind = Kind::kAuto;
  int index = 0;  ///< of kCuda

  /// @param text  "auto", "cpu" or "cuda:N"
  /// @throws DeviceError quoting any other text
  static DeviceChoice parse(std::string_view text);
};

/// Owns what a device needs between calls: for CUDA a stream and the memory that was freed on it.
/// One caller at a time; one Device per thread. Objects that live on a device (an index, scratch)
/// keep its context alive.
class Device {
 public:
  static Device cpu();

  /// `auto` gives the first CUDA device that this program has code for, else the processor.
  /// @throws DeviceError for a CUDA device that is not there or cannot be used, with the reason
  static Device open(DeviceChoice choice);

  bool is_cuda() const noexcept { return context_ != nullptr; }
  const std::string& name() const noexcept { return name_; }  ///< "cpu" or "cuda:N"

  /// What CUDA code runs with. Only for a CUDA device.
  cuda::Context& context() const noexcept { return *context_; }
  const std::shared_ptr<cuda::Context>& shared_context() const noexcept { return context_; }

 private:
  Device(std::string name, std::shared_ptr<cuda::Context> context);

  std::string name_;
  std::shared_ptr<cuda::Context> context_;  ///< null: the processor
};

/// One CUDA device as its driver describes it.
struct DeviceInfo {
  int index = 0;     ///< N of cuda:N
  std::string name;  ///< such as "NVIDIA L4"
  std::size_t memory_bytes = 0;
  int compute_major = 0;  ///< compute capability
  int compute_minor = 0;
};

/// What CUDA finds on this machine.
struct CudaDevices {
  std::vector<DeviceInfo> devices;
  std::string none_because;  ///< why there is none; empty if there is one
  int driver_version =
      0;  ///< newest CUDA that the driver supports, 1000 * major + 10 * minor; 0 = no driver
  int runtime_version = 0;  ///< CUDA runtime in this program, same form; 0 = built without CUDA
};

/// Asks the driver, if there is one. Never throws for want of a device or driver.
CudaDevices list_cuda_devices();

namespace cuda {

/// A context on a device. @throws DeviceError if there is no such device or it cannot be used
std::shared_ptr<Context> open_context(int index);

}  // namespace cuda
}  // namespace spintag::kernels
