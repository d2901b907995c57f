// fingerprint/peak_finder.h - levels in, peaks out: whitening, local maxima and their sub-cell
// places, streaming. Source: A. Wang, "An Industrial-Strength Audio Search Algorithm", ISMIR 2003,
// "Robust Constellations"; whitening by the local mean of the log spectrum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/peak.h"
#include "fingerprint/profile.h"

namespace spintag::fingerprint {

class LevelMap;

/// The rows of the spectrogram that peaks are looked for in, with the margins that the box and the
/// whitening reach into.
struct BinRange {
  static constexpr double hz_per_bin =
      static_cast<double>(BroadcastProfile::rate_hz) / BroadcastProfile::frame_samples;
  static constexpr int margin = BroadcastProfile::whiten_bins + BroadcastProfile::box_bins;
  static constexpr int first_peak = static_cast<int>(BroadcastProfile::low_hz / hz_per_bin) + 1;
  static constexpr int last_peak = static_cast<int>(BroadcastProfile::high_hz / hz_per_bin);
  static constexpr int first = first_peak - margin;
  static constexpr int count = last_peak + margin - first + 1;
};

/// Streaming stage: one row of levels at a time. A row's peaks are final when the whitening and the
/// box have seen `kLookaheadFrames` more rows. Sums are integers (levels in steps of 1/256 dB), so
/// that they never drift and do not depend on the processor.
class PeakFinder {
 public:
  static constexpr int kLookaheadFrames =
      BroadcastProfile::whiten_frames + BroadcastProfile::box_frames;

  PeakFinder();

  /// @param level_db  BinRange::count levels of one frame
  /// @param peaks     receives the peaks of the frame that is now final, by bin; all of them,
  /// before any density limit
  /// @param levels  if not null, is given the frame that is whitened now
  void push(std::span<const float> level_db, std::vector<Peak>& peaks, LevelMap* levels = nullptr);
  void finish(std::vector<Peak>& peaks, LevelMap* levels = nullptr);
  void reset();

  /// Frames whose peaks have been handed out.
  std::int64_t final_frames() const { return next_peak_frame_; }

 private:
  void whiten_next(std::vector<Peak>& peaks, LevelMap* levels);
  void find_in(std::int64_t frame, std::vector<Peak>& peaks);
  Peak locate(std::int64_t frame, int column, float salience_db) const;
  float* level_row(std::int64_t frame) {
    return levels_.data() + row_of(frame, kLevelRows) * kStride;
  }
  const float* level_row(std::int64_t frame) const {
    return levels_.data() + row_of(frame, kLevelRows) * kStride;
  }
  float* white_row(std::int64_t frame) {
    return white_.data() + row_of(frame, kWhiteRows) * kStride;
  }
  float* highest_row(std::int64_t frame) {
    return highest_.data() + row_of(frame, kWhiteRows) * kStride;
  }
  static std::size_t row_of(std::int64_t frame, std::int64_t rows) {
    return static_cast<std::size_t>(frame % rows);
  }

  static constexpr std::int64_t kLevelRows = 2 * BroadcastProfile::whiten_frames + 2;
  static constexpr std::int64_t kWhiteRows = 2 * BroadcastProfile::box_frames + 1;
  static constexpr std::size_t kStride = (BinRange::count + 15) / 16 * 16;

  std::vector<float> levels_;              ///< ring [kLevelRows, kStride], dB
  std::vector<std::int32_t> column_sums_;  ///< of the rows inside the whitening window, 1/256 dB
  std::vector<std::uint32_t> prefix_;      ///< running sum of column_sums_ along the bins
  std::vector<float> white_;               ///< ring [kWhiteRows, kStride]: salience, dB
  std::vector<float> highest_;             ///< ring: salience maximum over +-box_bins
  std::vector<float> candidates_;          ///< scratch row
  std::int64_t frames_in_ = 0;             ///< rows pushed
  std::int64_t oldest_summed_ = 0;         ///< first row still in column_sums_
  std::int64_t next_white_frame_ = 0;      ///< next row to whiten
  std::int64_t next_peak_frame_ = 0;       ///< next row to look for peaks in
};

}  // namespace spintag::fingerprint
