// fingerprint/nomination_pool.h - the best places that all hypotheses of a search have nominated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fingerprint/votes.h"

namespace spintag::fingerprint {

/// A place on the time line of one shard, under one hypothesis of a search.
struct Nominated {
  Nomination place;
  std::uint32_t hypothesis = 0;  ///< number in the search
  std::uint32_t shard = 0;       ///< number in the index
};

/// Keeps what has most votes; of equals the first in order of (hypothesis, shard, offset), whatever
/// the order in which they come.
class NominationPool {
 public:
  void reset(std::size_t most) {
    most_ = most;
    kept_.clear();
  }

  /// Places with fewer votes need not be added.
  std::uint32_t fewest() const {
    return kept_.size() < most_ || kept_.empty() ? 0 : kept_.front().place.votes;
  }

  void add(const Nominated& nominated) {
    if (most_ == 0) return;
    if (kept_.size() == most_) {
      if (!better(nominated, kept_.front())) return;
      std::pop_heap(kept_.begin(), kept_.end(), better);
      kept_.back() = nominated;
    } else {
      kept_.push_back(nominated);
    }
    std::push_heap(kept_.begin(), kept_.end(), better);
  }

  /// Best first; the pool is empty after it.
  std::vector<Nominated> take() {
    std::sort_heap(kept_.begin(), kept_.end(), better);
    return std::exchange(kept_, {});
  }

 private:
  static bool better(const Nominated& a, const Nominated& b) {
    if (a.place.votes != b.place.votes) return a.place.votes > b.place.votes;
    if (a.hypothesis != b.hypothesis) return a.hypothesis < b.hypothesis;
    if (a.shard != b.shard) return a.shard < b.shard;
    return a.place.offset_s < b.place.offset_s;
  }

  std::size_t most_ = 0;
  std::vector<Nominated> kept_;  ///< heap, the worst in front
};

}  // namespace spintag::fingerprint
