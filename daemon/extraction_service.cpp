// daemon/extraction_service.cpp - peaks of whole files, on a device that takes many at once.
#include "daemon/extraction_service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "fingerprint/profile.h"

namespace spintag::daemon {

namespace {

using fingerprint::Extraction;
using fingerprint::Wanted;

constexpr std::size_t kMinute =
    60 * static_cast<std::size_t>(fingerprint::BroadcastProfile::rate_hz);  // samples
constexpr std::size_t kLongestKept = 20 * kMinute;   // 53 MB; longer files are streamed
constexpr std::size_t kFirstKept = 5 * kMinute;      // most songs
constexpr std::size_t kMostKept = 6 * 60 * kMinute;  // 950 MB, of all files together
constexpr std::size_t kBatch = 60 * kMinute;         // what a device is kept busy with

Extraction extract_on_cpu(std::span<const float> samples, Wanted wanted) {
  fingerprint::PeakExtractor extractor;
  Extraction heard;
  fingerprint::LevelMap* const levels = wanted == Wanted::peaks ? nullptr : &heard.levels;
  extractor.push(samples, heard.peaks, levels);
  extractor.finish(heard.peaks, levels);
  return heard;
}

}  // namespace

ExtractionService::ExtractionService(Wanted wanted, std::unique_ptr<ExtractBackend> backend)
    : wanted_(wanted), backend_(std::move(backend)), room_(kMostKept) {
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

Extraction ExtractionService::extract(std::span<const float> samples) {
  std::optional<Extraction> heard;
  if (desk_) heard = desk_->ask(samples, samples.size());
  return heard ? std::move(*heard) : extract_on_cpu(samples, wanted_);
}

bool ExtractionService::take_room(std::size_t samples) {
  std::size_t left = room_.load();
  while (left >= samples) {
    if (room_.compare_exchange_weak(left, left - samples)) return true;
  }
  return false;
}

FilePeaks::FilePeaks(ExtractionService& service, bool on_device)
    : wanted_(service.wanted()), service_(on_device && service.on_device() ? &service : nullptr) {
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
    extractor_->push(samples, heard_.peaks, levels());
  }
}

Extraction FilePeaks::finish() {
  if (service_ != nullptr) return service_->extract(kept_);
  extractor_->finish(heard_.peaks, levels());
  return std::move(heard_);
}

fingerprint::LevelMap* FilePeaks::levels() {
  return wanted_ == Wanted::peaks ? nullptr : &heard_.levels;
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
  extractor_->push(kept_, heard_.peaks, levels());
  std::vector<float>().swap(kept_);
  service_->give_back_room(std::exchange(room_, 0));
  service_ = nullptr;
}

}  // namespace spintag::daemon
