// fingerprint/following.cpp - a known song is verified against its own peaks alone, and walked to
// where it begins and ends.
#include <algorithm>
#include <cmath>

#include "fingerprint/confidence.h"
#include "fingerprint/index_shard.h"
#include "fingerprint/matcher.h"
#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"
#include "fingerprint/verification.h"

namespace spintag::fingerprint {
namespace {

constexpr double kBlockS = 5.0;          ///< the clock of a song is corrected once in so much of it
constexpr double kLargestDrift = 0.010;  ///< seconds that one block may move it
constexpr double kLocked = 8.0;          ///< score of a block that may move it
constexpr int kSupportReach = 1;         ///< steps to each side that count as one place
constexpr double kSupportSigmas = 4.0;   ///< above chance, for a place to carry the alignment
constexpr double kSupportPeaks = 3.0;    ///< weight above chance that it needs besides
constexpr double kSupportPeaksPerStep =
    0.15;  ///< and so much more for each step of a gap before it

std::span<const std::byte> packed_of(const Index& index, TrackId track_id) {
  for (const auto& shard : index.shards()) {
    if (const auto track = shard->find(track_id))
      return shard->packed(shard->arrays().tracks[*track]);
  }
  return {};
}

/// Peaks of one stretch, ready to be met by a reference.
void view_stretch(const Heard& heard, double start_s, double end_s, QueryView& view) {
  std::vector<Peak> strongest;
  select_strongest(heard.peaks, start_s, end_s, BroadcastProfile::verify_peaks_per_s, strongest);
  view.assign(strongest, start_s, end_s, heard.levels);
}

/// Walks block by block away from what is known, so that a clock that drifts is not lost.
class Walk {
 public:
  Walk(std::span<const std::byte> packed, std::span<const Peak> peaks, const Alignment& known,
       double origin_s, std::vector<Evidence>& evidence)
      : packed_(packed), peaks_(peaks), known_(known), origin_s_(origin_s), evidence_(evidence) {}

  /// Fills the evidence of [from_s, to_s) and returns how far the clock moved there.
  double look_at(double from_s, double to_s, double drift_s) {
    view_stretch(peaks_, from_s, to_s, view_);
    Fit fit{known_.track_time(from_s) + drift_s, known_.tempo, known_.pitch};
    const auto reference = reference_points(packed_, fit, to_s - from_s);
    const Verdict refined = verify(view_, reference, fit);
    if (refined.score >= kLocked) {
      const double middle = 0.5 * (to_s - from_s);
      const double moved =
          refined.fit.offset_s + refined.fit.tempo * middle - fit.offset_s - fit.tempo * middle;
      const double allowed = std::clamp(moved, -kLargestDrift, kLargestDrift);
      drift_s += allowed;
      fit.offset_s += allowed;
    }
    find_coincidences(view_, reference, fit.pitch, fit, coincidences_);
    for (const Coincidence& c : coincidences_) add(from_s + c.query_time_s, c);
    return drift_s;
  }

 private:
  void add(double time_s, const Coincidence& coincidence) {
    const double step = std::floor((time_s - origin_s_) / kEvidenceStep);
    if (step < 0 || step >= static_cast<double>(evidence_.size())) return;
    Evidence& at = evidence_[static_cast<std::size_t>(step)];
    at.expected += 1;
    at.found += coincidence.weight;
    at.chance +=
        0.5 * coincidence.chance;  // the weight of a chance coincidence is uniform in [0, 1]
  }

  std::span<const std::byte> packed_;
  std::span<const Peak> peaks_;
  const Alignment& known_;
  double origin_s_;
  std::vector<Evidence>& evidence_;
  QueryView view_;
  std::vector<Coincidence> coincidences_;
};

/// Evidence above chance around a step, and its standard deviation under chance.
struct Support {
  double excess = 0;
  double sigma = 0;
};

Support support_at(std::span<const Evidence> evidence, std::ptrdiff_t step) {
  double found = 0;
  double chance = 0;
  const auto last = static_cast<std::ptrdiff_t>(evidence.size()) - 1;
  const std::ptrdiff_t from = std::max<std::ptrdiff_t>(0, step - kSupportReach);
  for (std::ptrdiff_t k = from; k <= std::min(last, step + kSupportReach); ++k) {
    found += evidence[static_cast<std::size_t>(k)].found;
    chance += evidence[static_cast<std::size_t>(k)].chance;
  }
  // A coincidence of chance p has a weight of mean p / 2 and variance at most p / 3: two thirds of
  // the mean.
  return {found - chance, std::sqrt(2.0 / 3.0 * chance)};
}

/// The outermost step of a run of evidence in one direction. The wider the gap that a place would
/// bridge, the more places have been tried by chance, and the more it has to show.
std::ptrdiff_t walk_out(std::span<const Evidence> evidence, std::ptrdiff_t step,
                        std::ptrdiff_t direction, std::ptrdiff_t bridge_steps) {
  std::ptrdiff_t last = step;
  for (std::ptrdiff_t k = step; k >= 0 && k < static_cast<std::ptrdiff_t>(evidence.size());
       k += direction) {
    const std::ptrdiff_t gap = std::abs(k - last);
    if (gap > bridge_steps) break;
    const Evidence& at = evidence[static_cast<std::size_t>(k)];
    const Support support = support_at(evidence, k);
    const double asked = kSupportPeaks + kSupportPeaksPerStep * static_cast<double>(gap);
    if (at.found > at.chance + 0.5 &&
        support.excess > std::max(asked, kSupportSigmas * support.sigma)) {
      last = k;
    }
  }
  return last;
}

}  // namespace

std::optional<Alignment> Matcher::follow(const Index& index, const Heard& heard, double start_s,
                                         double end_s, const Alignment& known) {
  const auto packed = packed_of(index, known.track_id);
  if (packed.empty()) return std::nullopt;
  QueryView view;
  view_stretch(heard, start_s, end_s, view);
  const Fit expected{known.track_time(start_s), known.tempo, known.pitch};
  const auto reference = reference_points(packed, expected, end_s - start_s);
  const Verdict verdict = verify(view, reference, expected);
  if (verdict.expected == 0) return std::nullopt;
  Account account = account_for(view, reference, expected.pitch, verdict.fit);
  account.odd_warp = false;  // it is known
  return to_alignment(known.track_id, verdict, account, start_s, end_s, index.track_count());
}

std::vector<Evidence> Matcher::trace(const Index& index, std::span<const Peak> peaks,
                                     double start_s, double end_s, const Alignment& known) {
  std::vector<Evidence> evidence(
      static_cast<std::size_t>(std::max(0.0, std::ceil((end_s - start_s) / kEvidenceStep))));
  for (std::size_t i = 0; i < evidence.size(); ++i)
    evidence[i].start_s = start_s + static_cast<double>(i) * kEvidenceStep;
  const auto packed = packed_of(index, known.track_id);
  if (packed.empty() || evidence.empty()) return evidence;

  Walk walk(packed, peaks, known, start_s, evidence);
  const double middle = std::clamp(0.5 * (known.start_s + known.end_s), start_s, end_s);
  double drift = 0;
  for (double at = middle; at < end_s; at += kBlockS)
    drift = walk.look_at(at, std::min(at + kBlockS, end_s), drift);
  drift = 0;
  for (double at = middle; at > start_s; at -= kBlockS)
    drift = walk.look_at(std::max(at - kBlockS, start_s), at, drift);
  return evidence;
}

Extent find_extent(std::span<const Evidence> evidence, const Alignment& known, double bridge_s) {
  if (evidence.empty()) return {known.start_s, known.end_s};
  const double origin = evidence.front().start_s;
  const auto last_step = static_cast<std::ptrdiff_t>(evidence.size()) - 1;
  const auto middle = static_cast<std::ptrdiff_t>(
      std::floor((0.5 * (known.start_s + known.end_s) - origin) / kEvidenceStep));
  const std::ptrdiff_t step = std::clamp<std::ptrdiff_t>(middle, 0, last_step);
  const auto bridge = static_cast<std::ptrdiff_t>(std::ceil(bridge_s / kEvidenceStep));
  const std::ptrdiff_t first = walk_out(evidence, step, -1, bridge);
  const std::ptrdiff_t last = walk_out(evidence, step, 1, bridge);
  return {origin + static_cast<double>(first) * kEvidenceStep,
          origin + static_cast<double>(last + 1) * kEvidenceStep};
}

}  // namespace spintag::fingerprint
