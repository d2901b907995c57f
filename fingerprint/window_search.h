// fingerprint/window_search.h - what a search of one window decides between its stages, whatever
// device counts the votes and verifies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fingerprint/heard.h"
#include "fingerprint/index_shard.h"
#include "fingerprint/matcher.h"
#include "fingerprint/nomination_pool.h"
#include "fingerprint/query_view.h"
#include "fingerprint/search_plan.h"
#include "fingerprint/verification.h"

namespace spintag::fingerprint {

/// A nomination on its way to a verdict.
struct Candidate {
  std::uint32_t shard_number = 0;  ///< in Index::shards()
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
  /// @param heard  of the query; what it refers to must stay until the next reset()
  void reset(const Index& index, const Heard& heard, double start_s, double end_s);

  /// The candidates of a search: every live track that a nominated place touches, which may lie
  /// before a track's start or run over its end.
  void begin(const Search& how, std::span<const Nominated> nominated, const Index& index);
  std::span<Candidate> candidates() { return candidates_; }

  /// Once the candidates' offsets are settled: leaves those that are worth verifying, the ones with
  /// most coincidences first.
  void choose();
  /// The verdict on a candidate; a track keeps its best.
  void keep(const Candidate& candidate, const Verdict& verdict);

  bool beyond_doubt();
  /// Once the searches have ended: music repeats itself, and a search at the wrong speed may have
  /// found another place of a track than the one that fits best. Tells of a search at the speed
  /// that was found, unless one has been made.
  std::optional<Search> closing_search();
  /// What was found, best first.
  std::vector<Alignment> result(const MatchOptions& options);

  /// The densest peaks of the window; made when it is first asked for.
  const QueryView& view();

  double start_s() const { return start_s_; }
  double end_s() const { return end_s_; }

 private:
  /// The best alignment of a track.
  struct Found {
    Candidate candidate;
    Verdict verdict;
    Alignment alignment;
    bool judged = false;  ///< alignment is that of the verdict
  };

  void add_track(std::uint32_t shard_number, const IndexShard& shard, std::size_t track,
                 const Fit& fit);
  void judge();
  void refine(Found& found);

  Heard heard_;
  double start_s_ = 0;
  double end_s_ = 0;
  std::size_t tracks_ = 0;  ///< of the index
  std::vector<Candidate> candidates_;
  std::vector<Hypothesis> asked_;
  std::size_t likely_ = 0;  ///< of them, the first: what the caller expects
  std::vector<Found> found_;
  QueryView view_;
  bool viewed_ = false;
};

}  // namespace spintag::fingerprint
