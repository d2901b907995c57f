// fingerprint/window_searcher.h - one search of one window on the processor, from its peaks to
// verdicts.
#pragma once

#include <span>
#include <vector>

#include "fingerprint/index.h"
#include "fingerprint/nomination_pool.h"
#include "fingerprint/peak.h"
#include "fingerprint/search_plan.h"
#include "fingerprint/sweep.h"
#include "fingerprint/verification.h"
#include "fingerprint/window_search.h"

namespace spintag::fingerprint {

/// Scratch of searches. Single-threaded.
class WindowSearcher {
 public:
  /// @param peaks  of the query in time order, as window.reset() was given them
  void search(const Index& index, std::span<const Peak> peaks, const Search& how,
              WindowSearch& window);

 private:
  std::vector<Peak> selected_;
  Sweep sweep_;
  NominationPool pool_;
  std::vector<ReferencePoint> reference_;
};

}  // namespace spintag::fingerprint
