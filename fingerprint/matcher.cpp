// fingerprint/matcher.cpp - nominate by votes, decide by verification; sparse probes first, dense
// ones only if they must.
#include "fingerprint/matcher.h"

#include <algorithm>
#include <cmath>

#include "fingerprint/confidence.h"
#include "fingerprint/index_shard.h"
#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"
#include "fingerprint/verification.h"
#include "fingerprint/votes.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

/// One look at the index.
struct Search {
  int peaks_per_s;
  std::size_t nominations;
};
constexpr Search kSparse{Profile::grid_query_peaks_per_s, 8};
constexpr Search kDense{Profile::query_peaks_per_s, 24};
constexpr Search kGrid{Profile::grid_query_peaks_per_s, 4};

constexpr std::uint32_t kFewestVotes = 3;
constexpr std::size_t kVerified = 16;      ///< nominations of a search that are fitted and scored
constexpr std::ptrdiff_t kPerTrack = 3;    ///< of those, at most so many of one track
constexpr double kBeyondDoubt = 1 - 1e-6;  ///< confidence that ends the search
constexpr double kSameAlignment = 0.100;   ///< seconds: nominations closer than this are one

/// A nomination on its way to a verdict.
struct Candidate {
  const IndexShard* shard = nullptr;
  std::size_t track = 0;
  Fit fit;
  std::vector<ReferencePoint> reference;
  int coincidences = 0;

  const ShardTrack& entry() const { return shard->arrays().tracks[track]; }
  TrackId track_id() const { return entry().track_id; }
  std::span<const std::byte> packed() const { return shard->packed(entry()); }
};

}  // namespace

struct Matcher::Scratch {
  void search(const Index& index, std::span<const Peak> peaks, double start_s, double end_s,
              const Hypothesis& hypothesis, const Search& how);
  void nominate(const IndexShard& shard, const Hypothesis& hypothesis, const Search& how,
                double window_s);
  void add_candidate(const IndexShard& shard, std::size_t track, const Fit& fit);
  void verify_best(double start_s, double end_s);
  void keep(const Alignment& alignment);

  std::vector<Peak> probe_peaks;
  std::vector<Peak> view_peaks;
  std::vector<Probe> probes;
  VoteCounter votes;
  QueryView view;
  std::vector<Candidate> candidates;
  std::vector<Alignment> found;  ///< best alignment of each track
};

Matcher::Matcher() : scratch_(std::make_unique<Scratch>()) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

std::vector<Alignment> Matcher::match(const Index& index, std::span<const Peak> peaks,
                                      double start_s, double end_s, const MatchOptions& options) {
  Scratch& scratch = *scratch_;
  scratch.found.clear();
  const auto beyond_doubt = [&scratch] {
    return std::any_of(scratch.found.begin(), scratch.found.end(),
                       [](const Alignment& a) { return a.confidence >= kBeyondDoubt; });
  };
  select_strongest(peaks, start_s, end_s, Profile::verify_peaks_per_s, scratch.view_peaks);
  if (scratch.view_peaks.empty()) return {};
  for (const Hypothesis& hypothesis : options.hypotheses) {
    const bool first = &hypothesis == &options.hypotheses.front();
    scratch.view.assign(scratch.view_peaks, start_s, end_s, hypothesis.pitch);
    scratch.search(index, peaks, start_s, end_s, hypothesis, first ? kSparse : kGrid);
    if (beyond_doubt()) break;
    if (first) scratch.search(index, peaks, start_s, end_s, hypothesis, kDense);
    if (beyond_doubt()) break;
  }

  std::vector<Alignment> result;
  for (const Alignment& alignment : scratch.found) {
    if (alignment.confidence >= options.min_confidence) result.push_back(alignment);
  }
  std::sort(result.begin(), result.end(), [](const Alignment& a, const Alignment& b) {
    return a.score != b.score ? a.score > b.score : a.track_id < b.track_id;
  });
  if (result.size() > options.max_matches) result.resize(options.max_matches);
  return result;
}

void Matcher::Scratch::search(const Index& index, std::span<const Peak> peaks, double start_s,
                              double end_s, const Hypothesis& hypothesis, const Search& how) {
  select_strongest(peaks, start_s, end_s, how.peaks_per_s, probe_peaks);
  probes.clear();
  make_query_probes(probe_peaks, start_s, hypothesis, probes);
  candidates.clear();
  for (const auto& shard : index.shards()) nominate(*shard, hypothesis, how, end_s - start_s);
  verify_best(start_s, end_s);
}

/// A place on the time line may lie before a track's start or run over its end: every track that
/// the window touches is asked.
void Matcher::Scratch::nominate(const IndexShard& shard, const Hypothesis& hypothesis,
                                const Search& how, double window_s) {
  if (shard.arrays().tracks.empty()) return;
  for (const Nomination& place : votes.count(shard, probes, kFewestVotes, how.nominations)) {
    const auto unit_at = [&](double seconds) {
      return static_cast<std::uint32_t>(
          std::clamp(seconds / IndexShard::kUnitS, 0.0, shard.arrays().units - 1.0));
    };
    const std::size_t first = shard.track_at(unit_at(place.offset_s));
    const std::size_t last = shard.track_at(unit_at(place.offset_s + hypothesis.tempo * window_s));
    for (std::size_t track = first; track <= last; ++track) {
      const double begin_s = shard.arrays().tracks[track].first_unit * IndexShard::kUnitS;
      add_candidate(shard, track, {place.offset_s - begin_s, hypothesis.tempo, hypothesis.pitch});
    }
  }
}

void Matcher::Scratch::add_candidate(const IndexShard& shard, std::size_t track, const Fit& fit) {
  if (!shard.is_live(track)) return;
  const bool known = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
    return other.shard == &shard && other.track == track &&
           std::abs(other.fit.offset_s - fit.offset_s) < kSameAlignment / 2;
  });
  if (!known) candidates.push_back({&shard, track, fit, {}, 0});
}

void Matcher::Scratch::verify_best(double start_s, double end_s) {
  for (Candidate& candidate : candidates) {
    candidate.reference = reference_points(candidate.packed(), candidate.fit, end_s - start_s);
    candidate.coincidences = settle_offset(view, candidate.reference, candidate.fit);
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.coincidences > b.coincidences; });
  std::size_t verified = 0;
  for (std::size_t i = 0; i < candidates.size() && verified < kVerified; ++i) {
    const Candidate& candidate = candidates[i];
    const auto same_track = std::count_if(
        candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Candidate& other) { return other.track_id() == candidate.track_id(); });
    if (same_track >= kPerTrack) continue;
    ++verified;
    const Verdict verdict = verify(view, candidate.reference, candidate.fit);
    keep(to_alignment(candidate.track_id(), verdict, start_s, end_s));
  }
}

void Matcher::Scratch::keep(const Alignment& alignment) {
  const auto same = std::find_if(found.begin(), found.end(), [&](const Alignment& other) {
    return other.track_id == alignment.track_id;
  });
  if (same == found.end()) {
    found.push_back(alignment);
  } else if (alignment.score > same->score) {
    *same = alignment;
  }
}

}  // namespace spintag::fingerprint
