// fingerprint/votes.h - counting agreements on one time offset over the whole catalogue's time
// line.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/index_shard.h"
#include "fingerprint/landmarks.h"

namespace spintag::fingerprint {

/// A place on a shard's time line where votes agree.
struct Nomination {
  double offset_s = 0;  ///< on the shard's time line, of the window's start; may be negative
  std::uint32_t votes = 0;
};

/// Scratch of a vote. Memory grows with the agreements met, not with the catalogue.
class VoteCounter {
 public:
  static constexpr double kCounterS = 0.064;

  /// Looks every probe up and returns the `most` best places with at least `fewest` votes (two
  /// neighbouring counters summed), best first; equals in order of time.
  const std::vector<Nomination>& count(const IndexShard& shard, std::span<const Probe> probes,
                                       std::uint32_t fewest, std::size_t most);

 private:
  void collect(const IndexShard& shard, std::span<const Probe> probes);
  void sort();
  void nominate(std::uint32_t fewest, std::size_t most);

  std::vector<std::uint32_t> counters_;  ///< one entry a vote: number of its counter
  std::vector<std::uint32_t> sorted_;    ///< scratch of the radix sort
  std::vector<Nomination> nominations_;
};

}  // namespace spintag::fingerprint
