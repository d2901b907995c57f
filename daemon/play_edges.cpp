// daemon/play_edges.cpp - where a play begins and ends.
#include "daemon/play_edges.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spintag::daemon {

namespace {

using fingerprint::Evidence;
using fingerprint::Extent;
using fingerprint::kEvidenceStep;

// Log likelihood ratio of "on, but masked" over "not on" for Poisson counts of mean m1 and m0:
// f ln(m1 / m0) - (m1 - m0).
double masked_gain(const Evidence& step, const PlayEdgeParams& params) {
  const double on = step.chance + params.masked_share * step.expected;
  const double off = step.chance + params.absent_share * step.expected;
  if (off <= 0) return 0;
  return step.found * std::log(on / off) - (on - off);
}

// Steps beyond `edge` in one direction that are more likely masked song than none: the prefix of
// the largest sum.
std::ptrdiff_t masked_steps(std::span<const Evidence> evidence, std::ptrdiff_t edge,
                            std::ptrdiff_t direction, double bonus_at_border,
                            const PlayEdgeParams& params) {
  const auto size = static_cast<std::ptrdiff_t>(evidence.size());
  const auto most = static_cast<std::ptrdiff_t>(params.bridge_s / kEvidenceStep);
  double sum = 0;
  double best = 0;
  double silent_s = 0;  // in which the track has no peak to be found
  std::ptrdiff_t best_steps = 0;
  for (std::ptrdiff_t steps = 1; steps <= most; ++steps) {
    const std::ptrdiff_t at = edge + direction * steps;
    if (at < 0 || at >= size) break;
    const Evidence& step = evidence[static_cast<std::size_t>(at)];
    sum += masked_gain(step, params);
    if (step.expected == 0) silent_s += kEvidenceStep;
    const bool border = (at == 0 || at == size - 1) && silent_s <= params.silent_border_s;
    const double worth = border ? sum + bonus_at_border : sum;
    if (worth > best) {
      best = worth;
      best_steps = steps;
    }
  }
  return best_steps;
}

}  // namespace

Extent find_play_edges(std::span<const Evidence> evidence, const fingerprint::Alignment& known,
                       bool begins, bool ends, const PlayEdgeParams& params) {
  Extent extent = fingerprint::find_extent(evidence, known, params.bridge_s);
  if (evidence.empty()) return extent;
  const double origin_s = evidence.front().start_s;
  const auto step_of = [&](double time_s) {
    return static_cast<std::ptrdiff_t>(std::llround((time_s - origin_s) / kEvidenceStep));
  };
  const double prior = params.whole_song_prior;
  const auto before =
      masked_steps(evidence, step_of(extent.start_s), -1, begins ? prior : 0, params);
  const auto after = masked_steps(evidence, step_of(extent.end_s) - 1, 1, ends ? prior : 0, params);
  extent.start_s -= static_cast<double>(before) * kEvidenceStep;
  extent.end_s += static_cast<double>(after) * kEvidenceStep;
  return extent;
}

Audible find_audible(std::span<const Evidence> evidence, double start_s) {
  constexpr double kGap_s = 2;
  Audible audible;
  audible.clear_from_s = evidence.empty() ? start_s : evidence.back().start_s + kEvidenceStep;
  for (auto step = evidence.rbegin(); step != evidence.rend(); ++step) {
    if (step->start_s + kEvidenceStep <= start_s) break;
    if (step->found <= step->chance + 0.5) continue;
    audible.seconds += kEvidenceStep;
    if (audible.clear_from_s - step->start_s <= kGap_s + kEvidenceStep)
      audible.clear_from_s = std::max(step->start_s, start_s);
  }
  return audible;
}

}  // namespace spintag::daemon
