// db/private_cluster.h - a PostgreSQL cluster of one's own, for those who run no server.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace spintag::db {

/// Made with initdb on first use, Unix socket only, fsync on, started when the first spintag
/// process needs it and stopped by the last one that leaves (advisory file locks, so that kill -9
/// leaves nothing locked). When every process was killed the server runs on until the next one
/// joins and leaves.
///
/// Everything lies in STATE/postgres, mode 0700: data/, log/ (seven files, one a day of the week),
/// run/ (the socket). Who may connect is who may enter run/: the account that owns the files and
/// root, both of whom could read the files anyway; so the server asks for no password. Started by
/// root, the server runs as whoever owns STATE/postgres or STATE, else as the account `spintag`,
/// else `postgres`; it needs no access to the directories above. A path too long for a socket (107
/// bytes) puts run/ into a directory of a random name in /tmp.
///
/// A service manager should stop the main process alone and first (systemd: KillMode=mixed): the
/// server is a child of nobody, but in the same control group.
class PrivateCluster {
 public:
  /// @param state_directory  made if it is missing; see default_state_directory()
  /// @throws StoreError(unreachable) that says what is missing (PostgreSQL not installed, directory
  /// not writable, ...)
  explicit PrivateCluster(std::filesystem::path state_directory);
  ~PrivateCluster();  ///< leaves; the last one out stops the server
  PrivateCluster(PrivateCluster&&) noexcept;
  PrivateCluster& operator=(PrivateCluster&&) noexcept;

  /// Connection URL for Store.
  std::string url() const;

  /// Starts the server again if it has died under us (kill -9, out of memory). Costs little when it
  /// runs.
  /// @throws StoreError(unreachable)
  void ensure_running();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// $STATE_DIRECTORY (the first, if there are several), else $XDG_STATE_HOME/spintag, else
/// ~/.local/state/spintag; for root, /var/lib/spintag, where the service keeps its own.
std::filesystem::path default_state_directory();

}  // namespace spintag::db
