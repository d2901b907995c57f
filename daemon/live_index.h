// daemon/live_index.h - the index in memory, kept equal to the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>

#include "db/store.h"
#include "fingerprint/index.h"

namespace spintag::daemon {

/// Loads from a snapshot file when a good one is there, else from the store; then follows
/// change_log past its cursor. refresh() belongs to one thread; current() may be called from any.
class LiveIndex {
 public:
  /// @param snapshot_file  cache that may be missing, stale or damaged; empty = none. A damaged one
  /// is rebuilt.
  LiveIndex(db::Store& store, std::filesystem::path snapshot_file);

  /// Applies what changed since the last call. @return number of changed tracks
  std::size_t refresh(db::Store& store);

  std::shared_ptr<const fingerprint::Index> current() const;
  std::int64_t cursor() const;

  /// Writes the snapshot when it is worth it (much has changed since the last one).
  void save_if_worthwhile();

 private:
  mutable std::mutex mutex_;  ///< guards index_, cursor_
  std::shared_ptr<const fingerprint::Index> index_;
  std::int64_t cursor_ = 0;
  std::int64_t saved_cursor_ = 0;
  std::filesystem::path snapshot_file_;
};

}  // namespace spintag::daemon
