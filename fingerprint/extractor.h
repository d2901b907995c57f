// fingerprint/extractor.h - samples in, dense peaks out: the `broadcast` profile's spectrogram and
// peak finder as one streaming stage.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fingerprint/level_map.h"
#include "fingerprint/peak.h"

namespace spintag::fingerprint {

/// Streaming stage. How the caller cuts its input never changes the peaks. Single-threaded; one per
/// stream or file. Memory is constant. Peaks come in order of (second, time): a second's peaks once
/// the second and the look-ahead of the whitening have been heard.
class PeakExtractor {
 public:
  PeakExtractor();
  ~PeakExtractor();
  PeakExtractor(PeakExtractor&&) noexcept;
  PeakExtractor& operator=(PeakExtractor&&) noexcept;

  /// @param samples  mono, BroadcastProfile::rate_hz, full scale = 1; any number of them
  /// @param peaks    receives the peaks that are now final, appended
  /// @param levels   if not null, is given the frames that are whitened now: those of the peaks
  ///                 and of what will be peaks next
  void push(std::span<const float> samples, std::vector<Peak>& peaks, LevelMap* levels = nullptr);

  /// The peaks after final_until_s(), as finish() would hand them out now. What comes next may move
  /// them a little, or let others stand out more: whitening looks 2.3 s ahead. Costs about as much
  /// as the peaks of two seconds.
  void preview(std::vector<Peak>& peaks, LevelMap* levels = nullptr) const;

  /// The tail. After it only reset() may follow.
  void finish(std::vector<Peak>& peaks, LevelMap* levels = nullptr);

  /// Starts a new recording at time 0.
  void reset();

  /// All peaks before this time (seconds since the first sample) have been handed out.
  double final_until_s() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spintag::fingerprint
