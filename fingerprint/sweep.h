// fingerprint/sweep.h - a search of many hypotheses: for one pitch the time differences of all
// tempi lie side by side in the index, and one look serves them all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/index_shard.h"
#include "fingerprint/landmark_math.h"
#include "fingerprint/nomination_pool.h"
#include "fingerprint/peak.h"
#include "fingerprint/search_plan.h"
#include "fingerprint/votes.h"

namespace spintag::fingerprint {

/// Scratch of a search on the processor. Single-threaded.
class Sweep {
 public:
  /// Nominates what make_query_probes() and VoteCounter::count() would for each hypothesis.
  /// @param peaks  the query's, in time order, as select_strongest() gives them for the search
  void run(const IndexShard& shard, std::uint32_t shard_number, std::span<const Peak> peaks,
           double origin_s, const Search& how, NominationPool& pool);

 private:
  /// Consecutive hypotheses of one pitch.
  struct Group {
    std::span<const Hypothesis> hypotheses;
    std::uint32_t first;  ///< number of the first in the search
  };
  /// Two peaks that some tempo of a group has in the target zone.
  struct Pair {
    std::uint32_t anchor;
    std::uint32_t target;
    std::uint32_t first;  ///< of the time differences that its tempi may ask for
    std::uint32_t count;
  };
  /// Consecutive hashes to be looked up for a pair.
  struct Lookup {
    std::uint32_t hash;
    std::uint32_t count;
    std::uint32_t pair;
  };

  void pair_up(const Hypothesis& slowest, const Hypothesis& fastest);
  void sweep(const IndexShard& shard, const Group& group);
  void flush(const IndexShard& shard, const Group& group);
  void vote(const Group& group, const Pair& pair, std::uint32_t hash, std::uint32_t unit);
  double warped(std::uint32_t peak, const Hypothesis& hypothesis) const {
    return (peaks_[peak].time_s - origin_s_) * hypothesis.tempo;
  }

  std::span<const Peak> peaks_;
  double origin_s_ = 0;
  Softness soft_;
  std::vector<Pair> pairs_;
  double slowest_ = 0;  ///< tempo that they were paired up for ...
  double fastest_ = 0;  ///< ... up to this one
  std::vector<double> u_;
  std::vector<landmark_math::SoftBin> bins_;
  std::vector<Lookup> lookups_;
  std::vector<VoteCounter> counters_;  ///< one for each hypothesis of a group
};

}  // namespace spintag::fingerprint
