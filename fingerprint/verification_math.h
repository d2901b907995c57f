// fingerprint/verification_math.h - the arithmetic of verification that the processor and a CUDA
// device share to the last bit.
//
// Sums over reference points run in kLanes partial sums, by a point's number within the stretch
// inside the window modulo kLanes, and are joined in halves: sum[i] += sum[i + 16], then 8, 4, 2,
// 1. That is how a warp adds, so that both come to the same bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numbers>

#include "fingerprint/packed_peak.h"
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
inline constexpr double kPitchReach = 0.007;
/// Seconds squared: (error of a peak, 5 ms / spread of tempo around its hypothesis, 0.3 %)^2. A
/// clip of two seconds says little about tempo; one of five is hardly held back.
inline constexpr double kTempoPrior = 2.8;
inline constexpr int kFewestPairs = 4;       ///< that a fit is made from
inline constexpr double kNullRadiusU = 2.0;  ///< where the null model counts query peaks
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

SPINTAG_HOST_DEVICE inline ReferencePoint make_reference_point(double time_s, float freq_hz,
                                                               float salience_db) {
  ReferencePoint point;
  point.time_s = static_cast<float>(time_s);
  point.u = static_cast<float>(frequency_to_u(freq_hz));
  point.ln_freq = static_cast<float>(portable_log(freq_hz));
  point.salience_db = salience_db;
  return point;
}

/// A fit as the places of reference points need it.
struct Placement {
  SPINTAG_HOST_DEVICE Placement(const Fit& fit, double query_pitch)
      : offset_s(fit.offset_s),
        per_tempo(1 / fit.tempo),
        ln_pitch_change(portable_log(fit.pitch / query_pitch)) {}
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

/// What least squares need to know of the pairs. Query times count from the middle of the window,
/// reference times from where the fit puts them at the tempo it began with: small numbers, whose
/// squares lose nothing.
struct FitSums {
  double pairs = 0;
  double weight = 0;
  double q = 0;  ///< of weight times query time
  double e = 0;  ///< of weight times error of reference time
  double qq = 0;
  double qe = 0;
  double ln_pitch = 0;

  SPINTAG_HOST_DEVICE void add(const QueryArrays& query, const ReferencePoint& point,
                               const Fit& fit, double begin_tempo, const Nearest& found) {
    const QueryPoint& peak = query.points[found.index];
    const double w = 1.0 - found.distance;
    const double from_middle = peak.time_s - 0.5 * query.length_s;
    const double error = point.time_s - fit.offset_s - begin_tempo * peak.time_s;
    const double wq = w * from_middle;
    pairs += 1;
    weight += w;
    q += wq;
    e += w * error;
    qq += wq * from_middle;
    qe += wq * error;
    ln_pitch += w * (peak.ln_freq - point.ln_freq);
  }
  SPINTAG_HOST_DEVICE void add(const FitSums& other) {
    pairs += other.pairs;
    weight += other.weight;
    q += other.q;
    e += other.e;
    qq += other.qq;
    qe += other.qe;
    ln_pitch += other.ln_pitch;
  }
};

/// Weighted least squares of t_ref = offset + tempo * t_query with a normal prior on tempo, and the
/// weighted mean of ln(f_query / f_ref).
/// @param begin  where the verification began; limits how far the fit moves
SPINTAG_HOST_DEVICE inline Fit refit(const FitSums& sums, double window_s, const Fit& begin,
                                     const Fit& fit) {
  if (sums.pairs < kFewestPairs || !(sums.weight > 0)) return fit;
  const double per_weight = 1 / sums.weight;
  const double mean_q = sums.q * per_weight;
  const double mean_e = sums.e * per_weight;
  const double qq = sums.qq - sums.q * mean_q;
  const double qe = sums.qe - sums.q * mean_e;
  const double slope = begin.tempo + qe / (qq + kTempoPrior);
  Fit moved;
  moved.tempo = clamped(slope, begin.tempo * (1 - kTempoReach), begin.tempo * (1 + kTempoReach));
  moved.offset_s = fit.offset_s + mean_e + (begin.tempo - moved.tempo) * (0.5 * window_s + mean_q);
  moved.pitch = clamped(portable_exp(sums.ln_pitch * per_weight), begin.pitch * (1 - kPitchReach),
                        begin.pitch * (1 + kPitchReach));
  return moved;
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

/// A product of factors of at least 1 that may leave the range of a double: value * 2^exponent.
struct Product {
  /// Of factors below 2^20 this many may be multiplied between two calls of normalise().
  static constexpr std::uint32_t kBetween = 32;

  double value = 1;
  int exponent = 0;

  SPINTAG_HOST_DEVICE void normalise() {
    constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    exponent += static_cast<int>(bits >> 52) - 1023;
    value = std::bit_cast<double>((bits & kMantissa) | std::uint64_t{1023} << 52);
  }
  SPINTAG_HOST_DEVICE double log() const {
    return portable_log(value) + exponent * std::numbers::ln2;
  }
};

/// s * sum w - sum ln(1 - p + p (e^s - 1) / s) is the log of the Chernoff bound at s, for weights
/// uniform in [0, 1]: of each p, the factor of the product whose logarithm is the second sum.
struct ChernoffFactor {
  SPINTAG_HOST_DEVICE explicit ChernoffFactor(double s) : excess(portable_expm1(s) / s - 1.0) {}
  SPINTAG_HOST_DEVICE double of(double chance) const { return 1.0 + chance * excess; }
  double excess;
};

/// Golden-section search for the largest Chernoff bound, which is concave in s. Ask the bound at a
/// and at b; then, while wide(), ask it where narrow() says and put it in by set().
struct BoundSearch {
  static constexpr double kRatio = std::numbers::phi - 1;
  double low = 0.01;
  double high = 16;
  double a = high - kRatio * (high - low);
  double b = low + kRatio * (high - low);
  double at_a = 0;
  double at_b = 0;
  bool asks_a = false;

  SPINTAG_HOST_DEVICE bool wide() const { return high - low > 0.05; }
  SPINTAG_HOST_DEVICE double narrow() {
    asks_a = at_a > at_b;
    if (asks_a) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kRatio * (high - low);
      return a;
    }
    low = a;
    a = b;
    at_a = at_b;
    b = low + kRatio * (high - low);
    return b;
  }
  SPINTAG_HOST_DEVICE void set(double bound) { (asks_a ? at_a : at_b) = bound; }
  /// Decades.
  SPINTAG_HOST_DEVICE double score() const {
    return std::max(0.0, std::max(at_a, at_b)) * (1 / std::numbers::ln10);
  }
};

}  // namespace spintag::fingerprint::verification
