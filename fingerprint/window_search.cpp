// fingerprint/window_search.cpp - candidates of nominations, the choice of those worth verifying,
// the best alignment of each track.
#include "fingerprint/window_search.h"

#include <algorithm>
#include <cmath>

#include "fingerprint/confidence.h"
#include "fingerprint/profile.h"

namespace spintag::fingerprint {
namespace {

constexpr std::size_t kVerified = 24;      ///< candidates of a search that are fitted and scored
constexpr std::ptrdiff_t kPerTrack = 4;    ///< of those, at most so many of one track
constexpr double kBeyondDoubt = 1 - 1e-7;  ///< confidence that ends the search
constexpr double kSameAlignment = 0.100;   ///< seconds: nominations closer than this are one ...
constexpr double kSameTempo = 0.025;       ///< ... if tempo and pitch are near too
constexpr double kSamePitch = 0.007;
constexpr int kRefinements = 4;
constexpr double kWorthRefining = 0.5;  ///< points that one more verification must bring
constexpr double kLikely = 0.9;         ///< confidence that is worth a closing search
constexpr double kAskedTempo = 0.003;   ///< a hypothesis so near finds every place of a track ...
constexpr double kAskedPitch = 0.0025;  ///< ... at the speed that was found

bool is_near_any(const Hypothesis& found, std::span<const Hypothesis> others) {
  return std::any_of(others.begin(), others.end(), [&](const Hypothesis& other) {
    return std::abs(other.tempo / found.tempo - 1) < kAskedTempo &&
           std::abs(other.pitch / found.pitch - 1) < kAskedPitch;
  });
}

}  // namespace

void WindowSearch::reset(const Index& index, const Heard& heard, double start_s, double end_s) {
  heard_ = heard;
  start_s_ = start_s;
  end_s_ = end_s;
  tracks_ = index.track_count();
  candidates_.clear();
  asked_.clear();
  likely_ = 0;
  found_.clear();
  viewed_ = false;
}

const QueryView& WindowSearch::view() {
  if (!viewed_) {
    std::vector<Peak> strongest;
    select_strongest(heard_.peaks, start_s_, end_s_, BroadcastProfile::verify_peaks_per_s,
                     strongest);
    view_.assign(strongest, start_s_, end_s_, heard_.levels);
    viewed_ = true;
  }
  return view_;
}

void WindowSearch::begin(const Search& how, std::span<const Nominated> nominated,
                         const Index& index) {
  candidates_.clear();
  if (asked_.empty()) likely_ = how.hypotheses.size();
  asked_.insert(asked_.end(), how.hypotheses.begin(), how.hypotheses.end());
  for (const Nominated& one : nominated) {
    const IndexShard& shard = *index.shards()[one.shard];
    const Hypothesis& hypothesis = how.hypotheses[one.hypothesis];
    const auto unit_at = [&](double seconds) {
      return static_cast<std::uint32_t>(
          std::clamp(seconds / IndexShard::kUnitS, 0.0, shard.arrays().units - 1.0));
    };
    const double from_s = one.place.offset_s;
    const std::size_t first = shard.track_at(unit_at(from_s));
    const std::size_t last =
        shard.track_at(unit_at(from_s + hypothesis.tempo * (end_s_ - start_s_)));
    for (std::size_t track = first; track <= last; ++track) {
      const double begin_s = shard.arrays().tracks[track].first_unit * IndexShard::kUnitS;
      add_track(one.shard, shard, track, {from_s - begin_s, hypothesis.tempo, hypothesis.pitch});
    }
  }
}

void WindowSearch::add_track(std::uint32_t shard_number, const IndexShard& shard, std::size_t track,
                             const Fit& fit) {
  if (!shard.is_live(track)) return;
  const bool known =
      std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& other) {
        return other.shard == &shard && other.track == track &&
               std::abs(other.fit.offset_s - fit.offset_s) < kSameAlignment / 2 &&
               std::abs(other.fit.tempo - fit.tempo) < kSameTempo &&
               std::abs(other.fit.pitch - fit.pitch) < kSamePitch;
      });
  if (!known) candidates_.push_back({shard_number, &shard, track, fit, 0});
}

void WindowSearch::choose() {
  std::stable_sort(
      candidates_.begin(), candidates_.end(),
      [](const Candidate& a, const Candidate& b) { return a.coincidences > b.coincidences; });
  std::vector<Candidate> chosen;
  for (std::size_t i = 0; i < candidates_.size() && chosen.size() < kVerified; ++i) {
    const auto same_track = std::count_if(
        candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Candidate& other) { return other.track_id() == candidates_[i].track_id(); });
    if (same_track < kPerTrack) chosen.push_back(candidates_[i]);
  }
  candidates_ = std::move(chosen);
}

void WindowSearch::keep(const Candidate& candidate, const Verdict& verdict) {
  const auto same = std::find_if(found_.begin(), found_.end(), [&](const Found& other) {
    return other.candidate.track_id() == candidate.track_id();
  });
  if (same == found_.end()) {
    found_.push_back({candidate, verdict, {}, false});
  } else if (verdict.score > same->verdict.score) {
    *same = {candidate, verdict, {}, false};
  }
}

/// A fit that began far from the truth ends on its way there.
void WindowSearch::refine(Found& found) {
  for (int round = 0; round < kRefinements; ++round) {
    const Fit& fit = found.verdict.fit;
    const auto reference = reference_points(found.candidate.packed(), fit, end_s_ - start_s_);
    const Verdict further = verify(view(), reference, fit);
    if (!(further.score > found.verdict.score + kWorthRefining)) break;
    found.verdict = further;
  }
}

/// Tells for every verdict how sure it is.
void WindowSearch::judge() {
  for (Found& found : found_) {
    if (found.judged) continue;
    Account account;
    if (worth_judging(found.verdict.score, tracks_)) {
      refine(found);
      const Fit& fit = found.verdict.fit;
      account =
          account_for(view(), reference_points(found.candidate.packed(), fit, end_s_ - start_s_),
                      fit.pitch, fit);
      const auto likely = std::span(asked_).first(likely_);
      account.odd_warp = account.odd_warp && !is_near_any({fit.tempo, fit.pitch}, likely);
    }
    found.alignment =
        to_alignment(found.candidate.track_id(), found.verdict, account, start_s_, end_s_, tracks_);
    found.judged = true;
  }
}

std::optional<Search> WindowSearch::closing_search() {
  judge();
  const auto best = std::max_element(
      found_.begin(), found_.end(),
      [](const Found& a, const Found& b) { return a.verdict.score < b.verdict.score; });
  if (best == found_.end() || best->alignment.confidence < kLikely) return std::nullopt;
  const Hypothesis found{best->verdict.fit.tempo, best->verdict.fit.pitch};
  if (is_near_any(found, asked_)) return std::nullopt;
  return search_at(found);
}

bool WindowSearch::beyond_doubt() {
  judge();
  return std::any_of(found_.begin(), found_.end(),
                     [](const Found& found) { return found.alignment.confidence >= kBeyondDoubt; });
}

std::vector<Alignment> WindowSearch::result(const MatchOptions& options) {
  judge();
  std::vector<Alignment> result;
  for (const Found& found : found_) {
    if (found.alignment.confidence >= options.min_confidence) result.push_back(found.alignment);
  }
  std::sort(result.begin(), result.end(), [](const Alignment& a, const Alignment& b) {
    return a.score != b.score ? a.score > b.score : a.track_id < b.track_id;
  });
  if (result.size() > options.max_matches) result.resize(options.max_matches);
  return result;
}

}  // namespace spintag::fingerprint
