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

Device::Device(std::string name, std::shared_ptr<cuda::Context> context)
    : name_(std::move(name)), context_(std::move(context)) {}

Device Device::cpu() { return {"cpu", nullptr}; }

Device Device::open(DeviceChoice choice) {
  if (choice.kind == DeviceChoice::Kind::kCpu) return cpu();
  if (choice.kind == DeviceChoice::Kind::kCuda) {
    return {"cuda:" + std::to_string(choice.index), cuda::open_context(choice.index)};
  }
  for (const DeviceInfo& info : list_cuda_devices().devices) {
    try {
      return {"cuda:" + std::to_string(info.index), cuda::open_context(info.index)};
    } catch (const DeviceError&) {
      continue;  // too old, or taken by someone else: nobody asked for this one by name
    }
  }
  return cpu();
}

}  // namespace spintag::kernels
