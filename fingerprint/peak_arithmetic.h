// fingerprint/peak_arithmetic.h - the arithmetic of the dense peaks that the processor and a CUDA
// device share to the last bit.
#pragma once

#include <cstdint>

#include "fingerprint/peak.h"
#include "fingerprint/peak_finder.h"
#include "fingerprint/profile.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

inline constexpr float kLevelStepsPerDb = 256.0F;

/// A level in steps of 1/256 dB. Truncation after adding a half of the right sign is the same on
/// every processor.
[[gnu::always_inline]] SPINTAG_HOST_DEVICE inline std::int32_t level_steps(float level_db) {
  const float steps = level_db * kLevelStepsPerDb;
  return static_cast<std::int32_t>(steps + (steps < 0.0F ? -0.5F : 0.5F));
}

/// What turns a sum of level_steps() over `frames` rows and the bins of the whitening into its
/// mean, dB.
SPINTAG_HOST_DEVICE inline float mean_factor(std::int64_t frames) {
  const auto cells = static_cast<float>(frames * (2 * BroadcastProfile::whiten_bins + 1));
  return 1.0F / (cells * kLevelStepsPerDb);
}

/// Place of the vertex of the parabola through (-1, a), (0, b), (1, c), clamped to half a cell.
SPINTAG_HOST_DEVICE inline double vertex(float a, float b, float c) {
  const double curvature = static_cast<double>(a) - 2.0 * b + c;
  if (curvature >= 0.0) return 0.0;
  const double place = 0.5 * (static_cast<double>(a) - c) / curvature;
  return place < -0.5 ? -0.5 : place > 0.5 ? 0.5 : place;
}

/// The levels that say where in its cell a peak is.
struct PeakLevels {
  float here = 0;
  float bin_below = 0;
  float bin_above = 0;
  bool between_frames = false;  ///< the recording has a frame before and one after
  float frame_before = 0;
  float frame_after = 0;
};

/// The parabola goes through the levels, not the whitened values: the local mean would pull it.
/// @param column  bin - BinRange::first
SPINTAG_HOST_DEVICE inline Peak located_peak(std::int64_t frame, int column,
                                             const PeakLevels& level, float salience_db) {
  constexpr double kCentre = 0.5 * BroadcastProfile::frame_samples / BroadcastProfile::rate_hz;
  constexpr double kFrame =
      static_cast<double>(BroadcastProfile::hop_samples) / BroadcastProfile::rate_hz;
  constexpr double kHzPerBin = BinRange::hz_per_bin;
  const double bins =
      BinRange::first + column + vertex(level.bin_below, level.here, level.bin_above);
  double frames = static_cast<double>(frame);
  if (level.between_frames) frames += vertex(level.frame_before, level.here, level.frame_after);
  Peak peak;
  peak.time_s = frames * kFrame + kCentre;
  peak.freq_hz = static_cast<float>(bins * kHzPerBin);
  peak.salience_db = salience_db;
  return peak;
}

}  // namespace spintag::fingerprint
