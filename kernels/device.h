// kernels/device.h - where the kernels run: this machine's processor or a CUDA device.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spintag::kernels {

/// A device that was asked for wrongly, is not there, or failed. The message says what to do.
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

/// Owns what a device needs between calls. One caller at a time; one Device per thread.
class Device {
 public:
  static Device cpu();

  /// `auto` and `cpu` give the processor.
  /// @throws DeviceError for a CUDA device: this version recognises on the CPU only
  static Device open(DeviceChoice choice);

  bool is_cuda() const noexcept { return kind_ == DeviceChoice::Kind::kCuda; }
  const std::string& name() const noexcept { return name_; }  ///< "cpu" or "cuda:N"

 private:
  Device(DeviceChoice::Kind kind, std::string name);

  DeviceChoice::Kind kind_;
  std::string name_;
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

}  // namespace spintag::kernels
