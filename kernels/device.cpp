// kernels/device.cpp - where the kernels run: this machine's processor or a CUDA device.
#include "kernels/device.h"

#include <charconv>
#include <utility>

namespace spintag::kernels {

DeviceChoice DeviceChoice::parse(std::string_view text) {
  if (text == "auto") return {Kind::kAuto, 0};
  if (text == "cpu") return {Kind::kCpu, 0};
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    const char* const end = text.data() + text.size();
    int index = -1;
    const auto [stop, error] = std::from_chars(text.data() + kPrefix.size(), end, index);
    if (error == std::errc() && stop == end && index >= 0) return {Kind::kCuda, index};
  }
  throw DeviceError("\"" + std::string(text) + "\" is not a device (try auto, cpu or cuda:0)");
}

Device::Device(DeviceChoice::Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

Device Device::cpu() { return {DeviceChoice::Kind::kCpu, "cpu"}; }

Device Device::open(DeviceChoice choice) {
  if (choice.kind == DeviceChoice::Kind::kCuda) {
    throw DeviceError("cuda:" + std::to_string(choice.index) +
                      ": this version recognises on the CPU only (try auto or cpu)");
  }
  return cpu();
}

}  // namespace spintag::kernels
