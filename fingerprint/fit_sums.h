// fingerprint/fit_sums.h - the least-squares fit of an alignment from sums over pairs of peaks, for
// the processor and a CUDA device.
#pragma once

#include "fingerprint/portable_math.h"
#include "fingerprint/query_arrays.h"
#include "fingerprint/verification.h"
#include "fingerprint/verification_math.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint::verification {

inline constexpr double kPitchReach = 0.007;
/// Seconds squared: (error of a peak, 5 ms / spread of tempo around its hypothesis, 0.3 %)^2. A
/// clip of two seconds says little about tempo; one of five is hardly held back.
inline constexpr double kTempoPrior = 2.8;
inline constexpr int kFewestPairs = 4;  ///< that a fit is made from

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

}  // namespace spintag::fingerprint::verification
