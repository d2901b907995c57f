// fingerprint/window_search.cpp - candidates of nominations, the choice of those worth verifying,
// the best alignment of each track.
#include "fingerprint/window_search.h"

#include <algorithm>
#include <cmath>

#include "fingerprint/confidence.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

constexpr std::size_t kSparseNominations = 8;
constexpr std::size_t kDenseNominations = 24;
constexpr std::size_t kGridNominations = 4;
constexpr std::size_t kVerified = 16;      ///< nominations of a search that are fitted and scored
constexpr std::ptrdiff_t kPerTrack = 3;    ///< of those, at most so many of one track
constexpr double kBeyondDoubt = 1 - 1e-6;  ///< confidence that ends the search
constexpr double kSameAlignment = 0.100;   ///< seconds: nominations closer than this are one

}  // namespace

std::vector<Search> searches_of(const MatchOptions& options) {
  std::vector<Search> searches;
  for (std::size_t i = 0; i < options.hypotheses.size(); ++i) {
    if (i > 0) {
      searches.push_back({Profile::grid_query_peaks_per_s, kGridNominations, i});
      continue;
    }
    searches.push_back({Profile::grid_query_peaks_per_s, kSparseNominations, i});
    searches.push_back({Profile::query_peaks_per_s, kDenseNominations, i});
  }
  return searches;
}

void WindowSearch::reset(double start_s, double end_s) {
  start_s_ = start_s;
  end_s_ = end_s;
  candidates_.clear();
  found_.clear();
}

void WindowSearch::add(std::span<const Nomination> places, std::size_t shard_number,
                       const IndexShard& shard, const Hypothesis& hypothesis) {
  if (shard.arrays().tracks.empty()) return;
  const auto unit_at = [&](double seconds) {
    return static_cast<std::uint32_t>(
        std::clamp(seconds / IndexShard::kUnitS, 0.0, shard.arrays().units - 1.0));
  };
  const double reach_s = hypothesis.tempo * (end_s_ - start_s_);
  for (const Nomination& place : places) {
    const std::size_t first = shard.track_at(unit_at(place.offset_s));
    const std::size_t last = shard.track_at(unit_at(place.offset_s + reach_s));
    for (std::size_t track = first; track <= last; ++track) {
      const double begin_s = shard.arrays().tracks[track].first_unit * IndexShard::kUnitS;
      add_track(shard_number, shard, track,
                {place.offset_s - begin_s, hypothesis.tempo, hypothesis.pitch});
    }
  }
}

void WindowSearch::add_track(std::size_t shard_number, const IndexShard& shard, std::size_t track,
                             const Fit& fit) {
  if (!shard.is_live(track)) return;
  const bool known =
      std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& other) {
        return other.shard == &shard && other.track == track &&
               std::abs(other.fit.offset_s - fit.offset_s) < kSameAlignment / 2;
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
  const Alignment alignment = to_alignment(candidate.track_id(), verdict, start_s_, end_s_);
  const auto same = std::find_if(found_.begin(), found_.end(), [&](const Alignment& other) {
    return other.track_id == alignment.track_id;
  });
  if (same == found_.end()) {
    found_.push_back(alignment);
  } else if (alignment.score > same->score) {
    *same = alignment;
  }
}

bool WindowSearch::beyond_doubt() const {
  return std::any_of(found_.begin(), found_.end(),
                     [](const Alignment& a) { return a.confidence >= kBeyondDoubt; });
}

std::vector<Alignment> WindowSearch::result(const MatchOptions& options) const {
  std::vector<Alignment> result;
  for (const Alignment& alignment : found_) {
    if (alignment.confidence >= options.min_confidence) result.push_back(alignment);
  }
  std::sort(result.begin(), result.end(), [](const Alignment& a, const Alignment& b) {
    return a.score != b.score ? a.score > b.score : a.track_id < b.track_id;
  });
  if (result.size() > options.max_matches) result.resize(options.max_matches);
  return result;
}

}  // namespace spintag::fingerprint
