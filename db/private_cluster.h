// db/private_cluster.h - a PostgreSQL cluster of one's own, for those who run no server.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace spintag::db {

/// Made with initdb on first use, Unix socket only, fsync on, started when the first spintag process needs it and stopped
/// by the last one that leaves (advisory file locks, so that kill -9 leaves nothing locked). Started by root, the server
/// runs as an unprivileged user.
class PrivateCluster {
 public:
  /// @param state_directory  made if it is missing; see default_state_directory()
  /// @throws StoreError(unreachable) that says what is missing (PostgreSQL not installed, directory not writable, ...)
  explicit PrivateCluster(std::filesystem::path state_directory);
  ~PrivateCluster();  ///< leaves; the last one out stops the server
  PrivateCluster(PrivateCluster&&) noexcept;
  PrivateCluster& operator=(PrivateCluster&&) noexcept;

  /// Connection URL for Store.
  std::string url() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// $STATE_DIRECTORY, else $XDG_STATE_HOME/spintag, else ~/.local/state/spintag.
std::filesystem::path default_state_directory();

}  // namespace spintag::db
