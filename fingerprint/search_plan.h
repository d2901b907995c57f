// fingerprint/search_plan.h - what is asked of the index for one window, from cheap to wide.
#pragma once

#include <cstddef>
#include <vector>

#include "fingerprint/landmarks.h"
#include "fingerprint/matcher.h"
#include "fingerprint/peak.h"

namespace spintag::fingerprint {

/// One look at the index. The best places of all its hypotheses go on to verification together.
struct Search {
  std::vector<Hypothesis> hypotheses;  ///< neighbours of one pitch in ascending order of tempo:
                                       ///< they share their lookups
  int peaks_per_s = 0;  ///< of the query, hashed
  Softness soft;
  std::size_t nominations = 0;  ///< of each shard and hypothesis, at most ...
  std::size_t pooled = 0;       ///< ... and of all of them
};

/// The searches of a window in order. A window whose answer is beyond doubt asks no further.
std::vector<Search> searches_of(const MatchOptions& options);

/// Every speed, tempo and pitch that is looked for: pitch by pitch, from the smallest change to the
/// largest, tempo ascending.
std::vector<Hypothesis> full_grid();
/// Records that run too fast or too slow: tempo and pitch change alike.
std::vector<Hypothesis> speed_line();

}  // namespace spintag::fingerprint
