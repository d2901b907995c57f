// daemon/device_backends.cpp - what the services have done by a device, many at a time.
#include "daemon/device_backends.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "fingerprint/batch_extractor.h"
#include "kernels/device.h"

namespace spintag::daemon {

namespace {

using kernels::Device;
using kernels::DeviceChoice;

// A card is ready after about half a second, in which one core names some fifty clips.
constexpr std::size_t kManyFiles = 32;
constexpr std::uintmax_t kMuch_bytes = 100'000'000;  // two hours as MP3

class DeviceMatcher final : public MatchBackend {
 public:
  explicit DeviceMatcher(Device device) : device_(std::move(device)), matcher_(device_) {}

  std::string device() const override { return device_.name(); }
  void load(const std::shared_ptr<const fingerprint::Index>& index) override {
    matcher_.load(index);
  }
  std::vector<std::vector<fingerprint::Alignment>> match(
      const std::shared_ptr<const fingerprint::Index>& index,
      std::span<const fingerprint::MatchQuery> queries,
      const fingerprint::MatchOptions& options) override {
    return matcher_.match(index, queries, options);
  }

 private:
  Device device_;
  fingerprint::BatchMatcher matcher_;
};

class DeviceExtractor final : public ExtractBackend {
 public:
  DeviceExtractor(Device device, fingerprint::Wanted wanted)
      : device_(std::move(device)), wanted_(wanted) {}

  std::string device() const override { return device_.name(); }
  std::vector<fingerprint::Extraction> extract(
      std::span<const std::span<const float>> recordings) override {
    return fingerprint::extract(device_, recordings, wanted_);
  }

 private:
  Device device_;
  fingerprint::Wanted wanted_;
};

}  // namespace

std::unique_ptr<MatchBackend> open_match_backend(const std::string& device) {
  Device opened = Device::open(DeviceChoice::parse(device));
  if (!opened.is_cuda()) return nullptr;
  return std::make_unique<DeviceMatcher>(std::move(opened));
}

std::unique_ptr<ExtractBackend> open_extract_backend(const std::string& device,
                                                     fingerprint::Wanted wanted) {
  Device opened = Device::open(DeviceChoice::parse(device));
  if (!opened.is_cuda()) return nullptr;
  return std::make_unique<DeviceExtractor>(std::move(opened), wanted);
}

std::string device_for(const std::string& device, std::span<const std::string> files) {
  if (DeviceChoice::parse(device).kind != DeviceChoice::Kind::kAuto) return device;
  if (files.size() >= kManyFiles) return device;
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) continue;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (!error) bytes += size;
  }
  return bytes >= kMuch_bytes ? device : "cpu";
}

}  // namespace spintag::daemon
