// daemon/index_follower.h - keeps a LiveIndex equal to the store while the daemon runs.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "daemon/live_index.h"
#include "daemon/status_board.h"
#include "db/store.h"

namespace spintag::daemon {

struct IndexFollowerParams {
  std::chrono::milliseconds poll{500};             ///< a new track is known within a second
  std::chrono::milliseconds longest_wait{10'000};  ///< while the database is away
  std::chrono::seconds save{60};  ///< between looks whether the snapshot is worth it
};

/// One thread ("index"), which may block on the database and, writing the snapshot, on the disk.
class IndexFollower {
 public:
  /// @param index  written by this thread from now on; it and `board` must outlive this
  /// @param revive_database  called on this thread each time the database cannot be reached, before
  ///                         the next try; may block, and may throw
  IndexFollower(LiveIndex& index, db::Store store, StatusBoard& board,
                std::function<void()> revive_database, IndexFollowerParams params = {});
  ~IndexFollower();  ///< stops and joins
  IndexFollower(const IndexFollower&) = delete;
  IndexFollower& operator=(const IndexFollower&) = delete;

 private:
  void work(const std::stop_token& stop);
  void revive();
  void save();

  LiveIndex& index_;
  db::Store store_;  ///< of the thread
  StatusBoard& board_;
  std::function<void()> revive_database_;
  IndexFollowerParams params_;
  std::jthread thread_;
};

}  // namespace spintag::daemon
