// db/postmaster.h - the private server's process: whether it runs, start it, stop it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "db/server_account.h"

namespace spintag::db {

/// Where a private cluster keeps its things. Everything but the socket lies in `directory`.
struct ClusterPlaces {
  std::filesystem::path directory;  ///< .../postgres, mode 0700
  int directory_fd = -1;            ///< the same, open
  std::filesystem::path socket_directory;
  std::optional<ServerAccount> account;  ///< whom the server runs as; nothing = as ourselves

  std::filesystem::path data() const { return directory / "data"; }
  /// `path`, which lies below `directory`, as the server's account can reach it: as root through an
  /// inherited descriptor, since a parent such as /root is closed to others.
  std::string as_server_sees(const std::filesystem::path& path) const;
};

/// Makes a cluster if there is none. A half one, of an initdb that was killed, is removed first.
/// All of these throw StoreError(unreachable); the caller holds the cluster's lock.
void make_cluster(const ClusterPlaces& places);

/// Returns when the server takes connections: one that runs already, or a new one. Leftovers of a
/// server that was killed are cleared away; what it had committed is recovered by PostgreSQL.
void ensure_server(const ClusterPlaces& places);

/// Stops the server: clients are disconnected, transactions that are open roll back. Without one,
/// does nothing.
/// @return false if it still runs after a minute
bool stop_server(const ClusterPlaces& places) noexcept;

/// The running server's process; nothing if there is none (a process id in a stale file, or reused
/// by another program, is none).
std::optional<pid_t> running_server(const ClusterPlaces& places);

constexpr const char* kServerUser = "spintag";
constexpr const char* kServerDatabase = "spintag";

}  // namespace spintag::db
