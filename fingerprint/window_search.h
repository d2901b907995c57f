// fingerprint/window_search.h - what a search of one window decides between its stages, whatever
// device counts the votes and verifies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/index_shard.h"
#include "fingerprint/matcher.h"
#include "fingerprint/profile.h"
#include "fingerprint/verification.h"
#include "fingerprint/votes.h"

namespace spintag::fingerprint {

/// One look at the index.
struct Search {
  int peaks_per_s;          ///< of the query, hashed
  std::size_t nominations;  ///< of each shard, that go on to verification
  std::size_t hypothesis;   ///< number in MatchOptions::hypotheses
};

/// The searches of a window in order: the first hypothesis sparsely, then densely, then the rest of
/// the grid. A window whose answer is beyond doubt asks no further.
std::vector<Search> searches_of(const MatchOptions& options);

constexpr std::uint32_t kFewestVotes = 3;  ///< of a nomination

/// A nomination on its way to a verdict.
struct Candidate {
  std::size_t shard_number = 0;  ///< in Index::shards()
  const IndexShard* shard = nullptr;
  std::size_t track = 0;
  Fit fit;
  int coincidences = 0;  ///< of settle_offset()

  const ShardTrack& entry() const { return shard->arrays().tracks[track]; }
  TrackId track_id() const { return entry().track_id; }
  std::span<const std::byte> packed() const { return shard->packed(entry()); }
};

/// Single-threaded; the caller counts votes, settles and verifies.
class WindowSearch {
 public:
  void reset(double start_s, double end_s);

  /// Begins the next search.
  void clear_candidates() { candidates_.clear(); }
  /// Adds every live track that a nominated place touches: it may lie before a track's start or run
  /// over its end.
  void add(std::span<const Nomination> places, std::size_t shard_number, const IndexShard& shard,
           const Hypothesis& hypothesis);
  std::span<Candidate> candidates() { return candidates_; }

  /// Once the candidates' offsets are settled: leaves those that are worth verifying, the ones with
  /// most coincidences first.
  void choose();
  /// The verdict on a candidate; a track keeps its best.
  void keep(const Candidate& candidate, const Verdict& verdict);

  bool beyond_doubt() const;
  /// What was found, best first.
  std::vector<Alignment> result(const MatchOptions& options) const;

  double start_s() const { return start_s_; }
  double end_s() const { return end_s_; }

 private:
  void add_track(std::size_t shard_number, const IndexShard& shard, std::size_t track,
                 const Fit& fit);

  double start_s_ = 0;
  double end_s_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<Alignment> found_;  ///< best alignment of each track
};

}  // namespace spintag::fingerprint
