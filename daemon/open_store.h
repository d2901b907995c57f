// daemon/open_store.h - the store that the settings name: a server, or the private cluster.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "config/settings.h"
#include "db/private_cluster.h"
#include "db/store.h"

namespace spintag::daemon {

/// settings.state_directory, or db::default_state_directory() when it is empty.
std::filesystem::path state_directory(const config::Settings& settings);

/// Where the index that belongs to these settings' database is cached: one file for each database
/// in the state directory, so that two databases never share one.
std::filesystem::path index_snapshot_file(const config::Settings& settings);

/// Keeps the private cluster running for as long as it lives, when there is no server URL.
class StoreSite {
 public:
  /// Starts the private cluster if settings.database_url is empty; does not connect to a server
  /// yet.
  /// @throws db::StoreError(unreachable)
  explicit StoreSite(const config::Settings& settings);

  const std::string& url() const { return url_; }
  bool is_private() const { return cluster_.has_value(); }

  /// Starts the private cluster's server again if it has died; a server by URL is left to its
  /// keeper. One thread at a time.
  /// @throws db::StoreError(unreachable)
  void ensure_running();

  /// A new connection: one for each worker. @throws db::StoreError
  db::Store open() const { return db::Store(url_); }

 private:
  std::optional<db::PrivateCluster> cluster_;
  std::string url_;
};

}  // namespace spintag::daemon
