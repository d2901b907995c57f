// fingerprint/verification.cpp - coincidences, the least-squares fit, and a Chernoff bound on
// chance.
#include "fingerprint/verification.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fingerprint/landmarks.h"
#include "fingerprint/reference.h"

namespace spintag::fingerprint {
namespace {

/// Half axes of the region around a reference peak in which a query peak counts.
struct Ellipse {
  double time_s;
  double u;
};
constexpr std::array<Ellipse, 3> kRounds{{{0.032, 2.0}, {0.032, 1.5}, {0.025, 1.0}}};
constexpr Ellipse kFinal{0.025, 1.0};
constexpr double kOffsetStep = 0.020;  ///< of settle_offset()
constexpr int kOffsetReach = 2;        ///< steps to each side
constexpr double kTempoReach = 0.012;  ///< relative
constexpr double kPitchReach = 0.007;
/// Seconds squared: (error of a peak, 5 ms / spread of tempo around its hypothesis, 0.3 %)^2. A
/// clip of two seconds says little about tempo; one of five is hardly held back.
constexpr double kTempoPrior = 2.8;
constexpr double kNullRadiusU = 2.0;  ///< neighbourhood in which the null model counts query peaks
constexpr double kNullRadiusS = 0.050;
constexpr std::size_t kEnoughForMasking = 30;  ///< peaks found; a median over fewer says little
constexpr double kMinChance = 0.003;
constexpr double kMaxChance = 0.95;

/// A reference peak and its nearest query peak.
struct Pair {
  double query_s;
  double reference_s;
  double ln_pitch;
  double weight;
};

std::span<const ReferencePoint> within(std::span<const ReferencePoint> reference, double from_s,
                                       double to_s) {
  const auto by_time = [](const ReferencePoint& point, double time) { return point.time_s < time; };
  const auto first = std::lower_bound(reference.begin(), reference.end(), from_s, by_time);
  const auto last = std::lower_bound(first, reference.end(), to_s, by_time);
  return {first, last};
}

std::span<const ReferencePoint> inside(const QueryView& query,
                                       std::span<const ReferencePoint> reference, const Fit& fit) {
  return within(reference, fit.offset_s, fit.offset_s + fit.tempo * query.length_s());
}

/// Squared normalised distance of the nearest query peak, and which it is; at least 1 when none is
/// in the ellipse.
double nearest(const QueryView& query, const ReferencePoint& point, const Fit& fit,
               double ln_pitch_change, const Ellipse& ellipse, const QueryView::Point*& best) {
  const double at = (point.time_s - fit.offset_s) / fit.tempo;
  double least = 1.0;
  best = nullptr;
  for (const QueryView::Point& candidate :
       query.between(at - ellipse.time_s, at + ellipse.time_s)) {
    const double dt = (candidate.time_s - at) / ellipse.time_s;
    const double du = (candidate.u - candidate.slope * ln_pitch_change - point.u) / ellipse.u;
    const double distance = dt * dt + du * du;
    if (distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  return least;
}

void collect(const QueryView& query, std::span<const ReferencePoint> reference, const Fit& fit,
             const Ellipse& ellipse, std::vector<Pair>& pairs) {
  pairs.clear();
  const double change = std::log(fit.pitch / query.pitch());
  for (const ReferencePoint& point : inside(query, reference, fit)) {
    const QueryView::Point* best = nullptr;
    const double distance = nearest(query, point, fit, change, ellipse, best);
    if (best == nullptr) continue;
    pairs.push_back({best->time_s, point.time_s, best->ln_freq - point.ln_freq, 1.0 - distance});
  }
}

/// Weighted least squares of t_ref = offset + tempo * t_query with a normal prior on tempo, and the
/// weighted mean of ln(f_query / f_ref).
void refit(std::span<const Pair> pairs, const Fit& begin, Fit& fit) {
  constexpr std::size_t kFewest = 4;
  if (pairs.size() < kFewest) return;
  double weight = 0;
  double mean_q = 0;
  double mean_r = 0;
  double ln_pitch = 0;
  for (const Pair& pair : pairs) {
    weight += pair.weight;
    mean_q += pair.weight * pair.query_s;
    mean_r += pair.weight * pair.reference_s;
    ln_pitch += pair.weight * pair.ln_pitch;
  }
  if (weight <= 0) return;
  mean_q /= weight;
  mean_r /= weight;
  double qq = 0;
  double qr = 0;
  for (const Pair& pair : pairs) {
    const double dq = pair.query_s - mean_q;
    qq += pair.weight * dq * dq;
    qr += pair.weight * dq * (pair.reference_s - mean_r - begin.tempo * dq);
  }
  const double slope = begin.tempo + qr / (qq + kTempoPrior);
  fit.tempo = std::clamp(slope, begin.tempo * (1 - kTempoReach), begin.tempo * (1 + kTempoReach));
  fit.offset_s = mean_r - fit.tempo * mean_q;
  fit.pitch = std::clamp(std::exp(ln_pitch / weight), begin.pitch * (1 - kPitchReach),
                         begin.pitch * (1 + kPitchReach));
}

/// Chance of a coincidence from a rank-one model of this very query: peaks near this frequency at
/// any time, times peaks near this time at any frequency, over all peaks; not under half of what it
/// would be were time flat.
double chance_at(const QueryView& query, double time_s, double u, bool matched) {
  constexpr double kAreaRatio =
      std::numbers::pi * kFinal.time_s * kFinal.u / (4 * kNullRadiusS * kNullRadiusU);
  const double own = matched ? 1.0 : 0.0;
  const double near_u = static_cast<double>(query.count_near_u(u, kNullRadiusU)) - own + 0.5;
  const double near_time =
      static_cast<double>(query.count_near_time(time_s, kNullRadiusS)) - own + 0.5;
  const auto all = static_cast<double>(query.points().size());
  const double flat = near_u * 2 * kNullRadiusS / query.length_s();
  const double lambda = kAreaRatio * std::max(near_u * near_time / all, 0.5 * flat);
  return std::clamp(1.0 - std::exp(-lambda), kMinChance, kMaxChance);
}

/// s * sum w - sum ln(1 - p + p (e^s - 1) / s): the log of the Chernoff bound at s, for weights
/// uniform in [0, 1].
double chernoff(std::span<const Coincidence> coincidences, double total_weight, double s) {
  const double moment = std::expm1(s) / s;
  double logs = 0;
  double product = 1;
  for (const Coincidence& c : coincidences) {
    product *= 1.0 + c.chance * (moment - 1.0);
    if (product > 1e200) {
      logs += std::log(product);
      product = 1;
    }
  }
  return s * total_weight - logs - std::log(product);
}

double median(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double chernoff_score(std::span<const Coincidence> coincidences) {
  double total = 0;
  for (const Coincidence& c : coincidences) total += c.weight;
  double low = 0.01;  // the bound is concave in s: golden-section search
  double high = 16;
  constexpr double kRatio = std::numbers::phi - 1;
  double a = high - kRatio * (high - low);
  double b = low + kRatio * (high - low);
  double at_a = chernoff(coincidences, total, a);
  double at_b = chernoff(coincidences, total, b);
  while (high - low > 0.05) {
    if (at_a > at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kRatio * (high - low);
      at_a = chernoff(coincidences, total, a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + kRatio * (high - low);
      at_b = chernoff(coincidences, total, b);
    }
  }
  return std::max(0.0, std::max(at_a, at_b)) / std::numbers::ln10;
}

}  // namespace

std::vector<ReferencePoint> reference_points(std::span<const std::byte> packed, const Fit& fit,
                                             double window_s) {
  const double margin = kOffsetReach * kOffsetStep + kRounds[0].time_s + kTempoReach * window_s;
  std::vector<ReferencePoint> points;
  for (const Peak& peak :
       unpack_peaks(packed, fit.offset_s - margin, fit.offset_s + fit.tempo * window_s + margin)) {
    points.push_back({.time_s = static_cast<float>(peak.time_s),
                      .u = static_cast<float>(frequency_to_u(peak.freq_hz)),
                      .ln_freq = std::log(peak.freq_hz),
                      .salience_db = peak.salience_db});
  }
  return points;
}

int settle_offset(const QueryView& query, std::span<const ReferencePoint> reference, Fit& fit) {
  constexpr Ellipse kCoarse{0.032, 2.0};
  constexpr int kOffsets = 2 * kOffsetReach + 1;
  std::array<int, kOffsets> counts{};
  const double reach = kOffsetReach * kOffsetStep / fit.tempo + kCoarse.time_s;
  for (const ReferencePoint& point : inside(query, reference, fit)) {
    const double at = (point.time_s - fit.offset_s) / fit.tempo;
    std::array<bool, kOffsets> met{};
    for (const QueryView::Point& candidate : query.between(at - reach, at + reach)) {
      const double du = (candidate.u - point.u) / kCoarse.u;
      if (std::abs(du) >= 1.0) continue;
      for (int k = 0; k < kOffsets; ++k) {
        const double dt =
            (candidate.time_s - at + (k - kOffsetReach) * kOffsetStep / fit.tempo) / kCoarse.time_s;
        met[static_cast<std::size_t>(k)] |= dt * dt + du * du < 1.0;
      }
    }
    for (std::size_t k = 0; k < met.size(); ++k) counts[k] += met[k] ? 1 : 0;
  }
  int best = kOffsetReach;
  for (int k = 0; k < kOffsets; ++k) {
    if (counts[static_cast<std::size_t>(k)] > counts[static_cast<std::size_t>(best)]) best = k;
  }
  fit.offset_s += (best - kOffsetReach) * kOffsetStep;
  return counts[static_cast<std::size_t>(best)];
}

void find_coincidences(const QueryView& query, std::span<const ReferencePoint> reference,
                       const Fit& fit, std::vector<Coincidence>& out) {
  out.clear();
  if (query.points().empty()) return;
  const double change = std::log(fit.pitch / query.pitch());
  for (const ReferencePoint& point : inside(query, reference, fit)) {
    const QueryView::Point* best = nullptr;
    const double distance = nearest(query, point, fit, change, kFinal, best);
    const double at = (point.time_s - fit.offset_s) / fit.tempo;
    const double chance = chance_at(query, at, point.u, best != nullptr);
    out.push_back({.query_time_s = static_cast<float>(at),
                   .weight = static_cast<float>(1.0 - distance),
                   .chance = static_cast<float>(chance),
                   .loss_db = best == nullptr ? 0.0F : point.salience_db - best->salience_db});
  }
}

Verdict verify(const QueryView& query, std::span<const ReferencePoint> reference, const Fit& fit,
               bool refine) {
  Verdict verdict{.fit = fit};
  if (refine) {
    std::vector<Pair> pairs;
    for (const Ellipse& ellipse : kRounds) {
      collect(query, reference, verdict.fit, ellipse, pairs);
      refit(pairs, fit, verdict.fit);
    }
  }
  std::vector<Coincidence> coincidences;
  find_coincidences(query, reference, verdict.fit, coincidences);
  verdict.expected = static_cast<int>(coincidences.size());
  if (coincidences.empty()) return verdict;
  std::vector<float> losses;
  for (const Coincidence& c : coincidences) {
    if (c.weight > 0) losses.push_back(c.loss_db);
  }
  verdict.found_share = static_cast<double>(losses.size()) / verdict.expected;
  if (losses.size() >= kEnoughForMasking) verdict.masking_db = median(losses);
  verdict.score = chernoff_score(coincidences);
  return verdict;
}

}  // namespace spintag::fingerprint
