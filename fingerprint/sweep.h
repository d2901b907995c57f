// fingerprint/sweep.h - a search of many hypotheses: for one pitch the time differences of all
// tempi lie side by side in the index, and one look serves them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/index_shard.h"
#include "fingerprint/landmark_math.h"
#include "fingerprint/lonely_votes.h"
#include "fingerprint/nomination_pool.h"
#include "fingerprint/peak.h"
#include "fingerprint/search_plan.h"
#include "fingerprint/votes.h"

namespace spintag::fingerprint {

/// Scratch of a search on the processor. Single-threaded.
class Sweep {
 public:
  /// Nominates what make_query_probes() and VoteCounter::count() would for each hypothesis.
  /// @param peaks  the query's, in time order, as select_strongest() gives them for the search;
  /// at most 262 s of them, warped
  void run(const IndexShard& shard, std::uint32_t shard_number, std::span<const Peak> peaks,
           double origin_s, const Search& how, NominationPool& pool);

 private:
  /// Hypotheses of one pitch that are looked up together: a bit of a mask each.
  static constexpr std::size_t kMostTogether = 32;

  /// Consecutive hypotheses of one pitch.
  struct Group {
    std::span<const Hypothesis> hypotheses;
    std::uint32_t first;  ///< number of the first in the search
  };
  /// Two peaks that some hypothesis of the search may have in its target zone.
  struct Near {
    std::uint32_t anchor;
    std::uint32_t target;
  };
  /// Two peaks that some tempo of a group has in the target zone.
  struct Pair {
    std::uint32_t anchor;
    std::uint32_t target;
    std::uint32_t masks;  ///< number of the first in masks_
    std::uint16_t first;  ///< of the time differences that its tempi may ask for
    std::uint16_t count;
  };
  /// Consecutive hashes to be looked up for a pair.
  struct Lookup {
    std::uint32_t hash;  ///< first of them
    std::uint32_t pair;  ///< if the group has several tempi
    std::uint16_t count;
    std::uint16_t step;  ///< where the anchor stands under the group's middle tempo
  };

  /// A posting, before it votes.
  struct Met {
    std::uint32_t place;  ///< coarse, whatever the tempo
    std::uint32_t unit;
    std::uint32_t lookup;
    std::uint32_t hash;
  };

  void find_near(std::span<const Hypothesis> all);
  void pair_up(std::span<const Hypothesis> group);
  void sweep(const Group& group);
  void ask_at_one_tempo();
  void ask_at_all_tempi();
  void ask(const landmark_math::ProbePeak& anchor, const landmark_math::ProbePeak& target,
           Lookup first);
  void look_up(const IndexShard& shard, const Group& group, std::uint32_t longest_bucket,
               std::uint32_t fewest);
  void vote(std::uint32_t lookup, std::uint32_t hash, std::uint32_t unit);
  double warped(std::uint32_t peak, const Hypothesis& hypothesis) const {
    return (peaks_[peak].time_s - origin_s_) * hypothesis.tempo;
  }

  std::span<const Peak> peaks_;
  double origin_s_ = 0;
  Softness soft_;
  std::vector<Near> near_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> masks_;  ///< of a pair's time differences: which tempi ask for each
  std::vector<std::uint16_t> steps_;  ///< [peaks, tempi] where each stands as an anchor
  std::vector<double> tempi_;         ///< that they were paired up for
  int coarse_shift_ = 0;              ///< steps of 4 ms to a coarse place
  std::vector<landmark_math::ProbePeak> warped_;  ///< to the group's pitch and slowest tempo
  std::vector<Lookup> lookups_;
  std::vector<Met> met_;
  LonelyVotes lonely_;
  std::vector<VoteCounter> counters_;  ///< one for each hypothesis of a group
};

}  // namespace spintag::fingerprint
