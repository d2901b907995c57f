// daemon/extraction_service.cpp - peaks of whole files, on a device that takes many at once.
#include "daemon/extraction_service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "fingerprint/profile.h"

namespace spintag::daemon {

namespace {

using fingerprint::Peak;

constexpr std::size_t kMinute =
    60 * static_cast<std::size_t>(fingerprint::BroadcastProfile::rate_hz);  // samples
constexpr std::size_t kLongestKept = 20 * kMinute;   // 53 MB; longer files are streamed
constexpr std::size_t kFirstKept = 5 * kMinute;      // most songs
constexpr std::size_t kMostKept = 6 * 60 * kMinute;  // 950 MB, of all files together
constexpr std::size_t kBatch = 60 * kMinute;         // what a device is kept busy with

std::vector<Peak> extract_on_cpu(std::span<const float> samples) {
  fingerprint::PeakExtractor extractor;
  std::vector<Peak> peaks;
  extractor.push(samples, peaks);
  extractor.finish(peaks);
  return peaks;
}

}  // namespace

ExtractionService::ExtractionService(std::unique_ptr<ExtractBackend> backend)
    : backend_(std::move(backend)), room_(kMostKept) {
  if (!backend_) return;
  works_ = true;
  desk_.emplace(
      "extract", kBatch,
      [this](std::span<const std::span<const float>> recordings) {
        return backend_->extract(recordings);
      },
      [this](const kernels::DeviceError& error) {
        spdlog::error("{}; fingerprinting goes on with the CPU", error.what());
        works_ = false;
        backend_.reset();
      });
}

std::vector<Peak> ExtractionService::extract(std::span<const float> samples) {
  std::optional<Peaks> peaks;
  if (desk_) peaks = desk_->ask(samples, samples.size());
  return peaks ? std::move(*peaks) : extract_on_cpu(samples);
}

bool ExtractionService::take_room(std::size_t samples) {
  std::size_t left = room_.load();
  while (left >= samples) {
    if (room_.compare_exchange_weak(left, left - samples)) return true;
  }
  return false;
}

FilePeaks::FilePeaks(ExtractionService* service) : service_(service) {
  if (service_ != nullptr && !service_->on_device()) service_ = nullptr;
  if (service_ == nullptr) extractor_.emplace();
}

FilePeaks::~FilePeaks() {
  if (service_ != nullptr) service_->give_back_room(room_);
}

void FilePeaks::push(std::span<const float> samples) {
  if (service_ != nullptr && !keep(samples.size())) stop_keeping();
  if (service_ != nullptr) {
    kept_.insert(kept_.end(), samples.begin(), samples.end());
  } else {
    extractor_->push(samples, peaks_);
  }
}

std::vector<Peak> FilePeaks::finish() {
  if (service_ != nullptr) return service_->extract(kept_);
  extractor_->finish(peaks_);
  return std::move(peaks_);
}

// Makes room for `count` more. Room is never waited for: whoever has some might wait as well.
bool FilePeaks::keep(std::size_t count) {
  const std::size_t wanted = kept_.size() + count;
  if (wanted > kLongestKept || !service_->on_device()) return false;
  if (wanted <= room_) return true;
  const std::size_t room = std::min(kLongestKept, std::max({wanted, kFirstKept, 2 * room_}));
  if (!service_->take_room(room - room_)) return false;
  room_ = room;
  kept_.reserve(room);
  return true;
}

void FilePeaks::stop_keeping() {
  extractor_.emplace();
  extractor_->push(kept_, peaks_);
  std::vector<float>().swap(kept_);
  service_->give_back_room(std::exchange(room_, 0));
  service_ = nullptr;
}

}  // namespace spintag::daemon
