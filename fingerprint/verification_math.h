// fingerprint/verification_math.h - the arithmetic of verification that the processor and a CUDA
// device share to the last bit.
//
// Sums over reference points run in kLanes partial sums, by a point's number within the stretch
// inside the window modulo kLanes, and are joined in halves: sum[i] += sum[i + 16], then 8, 4, 2,
// 1. That is how a warp adds, so that both come to the same bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numbers>

#include "fingerprint/portable_math.h"
#include "fingerprint/query_arrays.h"
#include "fingerprint/verification.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint::verification {

inline constexpr std::uint32_t kLanes = 32;

/// The region around a reference peak in which a query peak counts.
struct Ellipse {
  double time_s;    ///< half axis, seconds
  double per_time;  ///< 1 / time_s
  double per_u;     ///< 1 / the other half axis
};
/// Of the rounds of a fit, ever narrower. The first is also what offsets are settled with, the last
/// what coincidences are counted in.
inline constexpr int kRounds = 3;
SPINTAG_HOST_DEVICE constexpr Ellipse ellipse_of(int round) {
  constexpr double kWide = 0.032;
  constexpr double kNarrow = 0.025;
  if (round == 0) return {kWide, 1 / kWide, 1 / 2.0};
  if (round == 1) return {kWide, 1 / kWide, 1 / 1.5};
  return {kNarrow, 1 / kNarrow, 1 / 1.0};
}
inline constexpr double kOffsetStep = 0.020;
inline constexpr int kOffsetReach = 2;  ///< steps to each side
inline constexpr int kOffsets = 2 * kOffsetReach + 1;
inline constexpr double kTempoReach = 0.012;  ///< relative
inline constexpr double kNullRadiusU = 2.0;   ///< where the null model counts query peaks
inline constexpr double kNullRadiusS = 0.050;
inline constexpr int kEnoughForMasking = 30;  ///< peaks found; a median over fewer says little
inline constexpr double kMinChance = 0.003;
inline constexpr double kMaxChance = 0.95;

/// std::clamp() by value: a constant has no address on a device.
SPINTAG_HOST_DEVICE inline double clamped(double value, double low, double high) {
  return value < low ? low : high < value ? high : value;
}

/// A stretch of a reference, seconds: [from, to).
struct Stretch {
  double from_s;
  double to_s;
  SPINTAG_HOST_DEVICE bool holds(double time_s) const { return time_s >= from_s && time_s < to_s; }
};

/// What a verification that begins at `fit` may look at.
SPINTAG_HOST_DEVICE inline Stretch within_reach(const Fit& fit, double window_s) {
  const double margin = ellipse_of(0).time_s + kTempoReach * window_s;
  return {fit.offset_s - margin, fit.offset_s + fit.tempo * window_s + margin};
}

/// The same for every fit that settle_offset() may make of this one, with room for rounding.
SPINTAG_HOST_DEVICE inline Stretch within_reach_unsettled(const Fit& fit, double window_s) {
  constexpr double kSettled = kOffsetReach * kOffsetStep + 0.001;
  const Stretch settled = within_reach(fit, window_s);
  return {settled.from_s - kSettled, settled.to_s + kSettled};
}

SPINTAG_HOST_DEVICE inline Stretch inside_window(const Fit& fit, double window_s) {
  return {fit.offset_s, fit.offset_s + fit.tempo * window_s};
}

/// Whether a peak of the reference stands in a query at all, whose own peaks end at the profile's
/// bounds.
SPINTAG_HOST_DEVICE inline bool audible(float freq_hz, double pitch) {
  return freq_hz * pitch >= BroadcastProfile::low_hz &&
         freq_hz * pitch <= BroadcastProfile::high_hz;
}

SPINTAG_HOST_DEVICE inline ReferencePoint make_reference_point(double time_s, float freq_hz,
                                                               float salience_db, double pitch) {
  ReferencePoint point;
  point.time_s = static_cast<float>(time_s);
  point.u = static_cast<float>(frequency_to_u(freq_hz * pitch));
  point.ln_freq = static_cast<float>(portable_log(freq_hz));
  point.salience_db = salience_db;
  return point;
}

/// A fit as the places of reference points need it.
struct Placement {
  /// @param reference_pitch  that the points were made for
  SPINTAG_HOST_DEVICE Placement(const Fit& fit, double reference_pitch)
      : offset_s(fit.offset_s),
        per_tempo(1 / fit.tempo),
        ln_pitch_change(portable_log(fit.pitch / reference_pitch)) {}
  /// Seconds into the window.
  SPINTAG_HOST_DEVICE double at(const ReferencePoint& point) const {
    return (point.time_s - offset_s) * per_tempo;
  }
  double offset_s;
  double per_tempo;
  double ln_pitch_change;
};

/// The nearest query peak in an ellipse.
struct Nearest {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  double distance = 1;  ///< squared and normalised
  std::uint32_t index = kNone;
};

SPINTAG_HOST_DEVICE inline Nearest nearest(const QueryArrays& query, const ReferencePoint& point,
                                           double at, const Placement& placement,
                                           const Ellipse& ellipse) {
  const double last = at + ellipse.time_s;
  Nearest best;
  for (std::uint32_t i = query.first_at(at - ellipse.time_s); i < query.count; ++i) {
    const QueryPoint& candidate = query.points[i];
    if (!(candidate.time_s < last)) break;
    const double dt = (candidate.time_s - at) * ellipse.per_time;
    const double du =
        (candidate.u - candidate.slope * placement.ln_pitch_change - point.u) * ellipse.per_u;
    const double distance = dt * dt + du * du;
    if (distance < best.distance) best = {distance, i};
  }
  return best;
}

/// Chance of a coincidence from a rank-one model of this very query: peaks near this frequency at
/// any time, times peaks near this time at any frequency, over all peaks; not under half of what it
/// would be were time flat.
struct ChanceModel {
  SPINTAG_HOST_DEVICE explicit ChanceModel(const QueryArrays& query)
      : per_peak(1.0 / query.count), flat_share(0.5 * (2 * kNullRadiusS) / query.length_s) {}

  SPINTAG_HOST_DEVICE double at(const QueryArrays& query, double time_s, double u,
                                bool matched) const {
    constexpr Ellipse kCounted = ellipse_of(kRounds - 1);
    constexpr double kAreaRatio =
        std::numbers::pi * kCounted.time_s / kCounted.per_u / (4 * kNullRadiusS * kNullRadiusU);
    const double own = matched ? 0.5 : -0.5;
    const double near_u = query.count_near_u(u, kNullRadiusU) - own;
    const double near_time = query.count_near_time(time_s, kNullRadiusS) - own;
    const double lambda = kAreaRatio * near_u * std::max(near_time * per_peak, flat_share);
    return clamped(1.0 - portable_exp(-lambda), kMinChance, kMaxChance);
  }

  double per_peak;
  double flat_share;
};

SPINTAG_HOST_DEVICE inline Coincidence coincidence_of(const QueryArrays& query,
                                                      const ReferencePoint& point,
                                                      const Placement& placement,
                                                      const ChanceModel& chance) {
  const double at = placement.at(point);
  const Nearest best = nearest(query, point, at, placement, ellipse_of(kRounds - 1));
  const bool found = best.index != Nearest::kNone;
  Coincidence result;
  result.query_time_s = static_cast<float>(at);
  result.weight = static_cast<float>(1.0 - best.distance);
  result.chance = static_cast<float>(chance.at(query, at, point.u, found));
  // 0 is added so that no loss is -0, which would leave the order of losses open.
  result.loss_db = found ? point.salience_db - query.salience_db[best.index] + 0.0F : 0.0F;
  return result;
}

/// Which of the offsets that settle_offset() tries have a query peak near this point: bit k is
/// offset (k - kOffsetReach) * kOffsetStep.
SPINTAG_HOST_DEVICE inline std::uint32_t offsets_met(const QueryArrays& query,
                                                     const ReferencePoint& point,
                                                     const Placement& placement) {
  constexpr Ellipse kCoarse = ellipse_of(0);
  const double at = placement.at(point);
  const double step = kOffsetStep * placement.per_tempo;
  const double reach = kOffsetReach * step + kCoarse.time_s;
  std::uint32_t met = 0;
  for (std::uint32_t i = query.first_at(at - reach); i < query.count; ++i) {
    const QueryPoint& candidate = query.points[i];
    if (!(candidate.time_s < at + reach)) break;
    const double du = (candidate.u - point.u) * kCoarse.per_u;
    const double room = 1.0 - du * du;
    if (!(room > 0)) continue;
    const double from = candidate.time_s - at;
    for (int k = 0; k < kOffsets; ++k) {
      const double dt = (from + (k - kOffsetReach) * step) * kCoarse.per_time;
      met |= dt * dt < room ? 1U << k : 0;
    }
  }
  return met;
}

/// What settle_offset() decides.
struct SettledOffset {
  double shift_s;
  int coincidences;
};
/// The first offset where most coincide, the nominated one if as many do there.
/// @param counts  [kOffsets]
SPINTAG_HOST_DEVICE inline SettledOffset best_offset(const int* counts) {
  int best = kOffsetReach;
  int most = counts[kOffsetReach];
  for (int k = 0; k < kOffsets; ++k) {  // not counts[best]: a device keeps the counts in registers
    if (counts[k] > most) {
      best = k;
      most = counts[k];
    }
  }
  return {(best - kOffsetReach) * kOffsetStep, most};
}

}  // namespace spintag::fingerprint::verification
