// daemon/matcher_pool.h - a few matchers that many stations share.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "fingerprint/matcher.h"

namespace spintag::daemon {

/// A matcher's scratch memory grows with the catalogue and its work fills a core, so there are as
/// many as cores, not as many as stations. Whoever wants one waits for it. Any thread.
class MatcherPool {
 public:
  explicit MatcherPool(std::size_t count) : matchers_(count) {
    for (auto& matcher : matchers_) free_.push_back(&matcher);
  }

  /// A matcher for as long as this lives.
  class Lease {
   public:
    explicit Lease(MatcherPool& pool) : pool_(pool), matcher_(pool.take()) {}
    ~Lease() { pool_.give_back(matcher_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    fingerprint::Matcher& operator*() const { return *matcher_; }

   private:
    MatcherPool& pool_;
    fingerprint::Matcher* matcher_;
  };

 private:
  fingerprint::Matcher* take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !free_.empty(); });
    auto* matcher = free_.back();
    free_.pop_back();
    return matcher;
  }
  void give_back(fingerprint::Matcher* matcher) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(matcher);
    }
    returned_.notify_one();
  }

  std::mutex mutex_;  ///< guards free_
  std::condition_variable returned_;
  std::vector<fingerprint::Matcher> matchers_;
  std::vector<fingerprint::Matcher*> free_;
};

}  // namespace spintag::daemon
