// fingerprint/search_plan.h - what is asked of the index for one window, from cheap to wide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fingerprint/landmarks.h"
#include "fingerprint/matcher.h"
#include "fingerprint/peak.h"
#include "fingerprint/votes.h"

namespace spintag::fingerprint {

/// One look at the index. The best places of all its hypotheses go on to verification together.
struct Search {
  std::vector<Hypothesis> hypotheses;  ///< neighbours of one pitch in ascending order of tempo:
                                       ///< they share their lookups
  int peaks_per_s = 0;                 ///< of the query, hashed
  Softness soft;
  std::size_t nominations = 0;  ///< of each shard and hypothesis, at most ...
  std::size_t pooled = 0;       ///< ... and of all of them
  /// Buckets of more words are not read. In a large shard a tenth of the buckets, those of notes
  /// that half the catalogue holds, have nine tenths of the postings.
  std::uint32_t longest_bucket = kEveryBucket;
};

/// The searches of a window in order. A window whose answer is beyond doubt asks no further. Wide
/// ones are left out when the catalogue is so large that they would take seconds.
/// @param catalogue_s  length of all tracks, seconds
std::vector<Search> searches_of(const MatchOptions& options, double catalogue_s);

/// One hypothesis alone, as the second search of a window asks.
Search search_at(const Hypothesis& hypothesis);

/// Every tempo with every pitch: pitch by pitch, from the smallest change to the largest, tempo
/// ascending.
std::vector<Hypothesis> full_grid();
/// Records that run too fast or too slow: tempo and pitch change alike.
std::vector<Hypothesis> speed_line();
/// Time stretched at one pitch, and pitch shifted in time.
std::vector<Hypothesis> tempo_line();
std::vector<Hypothesis> pitch_line();

}  // namespace spintag::fingerprint
