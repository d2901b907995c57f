// fingerprint/level_map.h - how loud every place of a query's spectrogram is, beside its peaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fingerprint/peak_finder.h"
#include "fingerprint/profile.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

/// A level in a byte: half decibels, the nearest one, within +-63 dB.
SPINTAG_HOST_DEVICE inline std::int8_t level_unit(float salience_db) {
  const float units = salience_db * 2.0F;
  const float nearest = units < 0.0F ? units - 0.5F : units + 0.5F;
  return static_cast<std::int8_t>(nearest < -126.0F  ? -126.0F
                                  : nearest > 126.0F ? 126.0F
                                                     : nearest);
}

/// The whitened levels that a query's peaks are the maxima of, a byte for kBinsPerCell bins of a
/// frame: 10 KB a second. A peak of a track that is missing tells nothing when the place where it
/// should be is as loud as the peak: speech, noise or another song has covered it, and sound that
/// is added takes no energy away.
class LevelMap {
 public:
  static constexpr int kBinsPerCell = 4;
  static constexpr int kFirstColumn = BroadcastProfile::whiten_bins;  ///< in a row of levels
  static constexpr int kEndColumn = BinRange::count - BroadcastProfile::whiten_bins;
  static constexpr int kCells = (kEndColumn - kFirstColumn + kBinsPerCell - 1) / kBinsPerCell;
  static constexpr double kUnitDb = 0.5;

  LevelMap() = default;
  /// @param cells  [frames, kCells] of a whole recording, of level_unit()
  explicit LevelMap(std::vector<std::int8_t> cells) : cells_(std::move(cells)) {}

  /// Begins again, at frame 0 of a new recording.
  /// @param origin_s  when its first sample was heard, on the query's clock
  void reset(double origin_s);

  /// Takes a frame in the place of it and of all that came after it, which were a preview.
  /// @param frame      of the recording; not more than one after the last
  /// @param salience_db  [BinRange::count], levels above the local mean
  void put(std::int64_t frame, std::span<const float> salience_db);

  /// Drops frames that are centred before this time, or some of them: what is left is moved seldom.
  void forget_before(double time_s);

  /// The highest level within a frame and a bin of a place; nullopt where nothing was heard and
  /// outside the band of the peaks.
  std::optional<double> salience_db(double time_s, double freq_hz) const;

  friend bool operator==(const LevelMap&, const LevelMap&) = default;

  std::size_t frames() const { return cells_.size() / kCells; }

 private:
  double origin_s_ = 0;
  std::int64_t first_frame_ = 0;    ///< in cells_
  std::vector<std::int8_t> cells_;  ///< [frames, kCells], in kUnitDb
};

}  // namespace spintag::fingerprint
