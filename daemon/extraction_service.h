// daemon/extraction_service.h - peaks of whole files, on a device that takes many of them at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/batch_desk.h"
#include "daemon/device_backends.h"
#include "fingerprint/extractor.h"
#include "fingerprint/heard.h"

namespace spintag::daemon {

/// One thread ("extract") owns the device and does with one batch all recordings that wait for it.
/// When the device fails, that is logged once, and its recordings and all later ones are done by
/// the CPU. Any thread.
class ExtractionService {
 public:
  /// @param backend  null = the CPU; made for what is wanted
  explicit ExtractionService(fingerprint::Wanted wanted,
                             std::unique_ptr<ExtractBackend> backend = nullptr);

  fingerprint::Wanted wanted() const { return wanted_; }

  /// False: better given to a PeakExtractor sample by sample.
  bool on_device() const { return works_.load(); }

  /// @param samples  a whole recording: mono, BroadcastProfile::rate_hz, full scale = 1
  /// @return what PeakExtractor gives
  fingerprint::Extraction extract(std::span<const float> samples);

  /// Room for samples that wait to be whole recordings, for all callers together.
  bool take_room(std::size_t samples);  ///< @return false if so much is not left
  void give_back_room(std::size_t samples) { room_ += samples; }

 private:
  fingerprint::Wanted wanted_;
  std::unique_ptr<ExtractBackend> backend_;  ///< of the desk's thread
  std::atomic<bool> works_ = false;          ///< the device
  std::atomic<std::size_t> room_;            ///< samples
  std::optional<BatchDesk<std::span<const float>, fingerprint::Extraction>> desk_;
};

/// The peaks of one file from its samples as they are decoded. Where there is a device, the samples
/// are kept and extracted at the end, unless the file is long or the room is taken; without one
/// nothing is kept. Single-threaded.
class FilePeaks {
 public:
  /// @param on_device  false: comes at its own pace
  explicit FilePeaks(ExtractionService& service, bool on_device = true);
  ~FilePeaks();
  FilePeaks(const FilePeaks&) = delete;
  FilePeaks& operator=(const FilePeaks&) = delete;

  void push(std::span<const float> samples);
  /// All of them. May wait for the device. Nothing may follow.
  fingerprint::Extraction finish();

 private:
  bool keep(std::size_t count);
  void stop_keeping();
  fingerprint::LevelMap* levels();

  fingerprint::Wanted wanted_;
  ExtractionService* service_;  ///< null once the samples go to extractor_
  std::vector<float> kept_;
  std::size_t room_ = 0;  ///< samples, taken from the service
  std::optional<fingerprint::PeakExtractor> extractor_;
  fingerprint::Extraction heard_;  ///< 2.4 KB a second at the most, 12 with levels
};

}  // namespace spintag::daemon
