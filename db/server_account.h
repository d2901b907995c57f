// db/server_account.h - who runs the private server when spintag is root.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spintag::db {

/// PostgreSQL refuses to run as root.
struct ServerAccount {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::string name;
};

/// Nothing unless this process is root. Then whoever owns the cluster already, else whoever owns
/// the state directory, else the account `spintag` (the daemon's) or `postgres` (which PostgreSQL's
/// packages make). Never `nobody`: what several services share, several services could read.
/// @throws StoreError(unreachable) if there is no such account
std::optional<ServerAccount> server_account(const std::filesystem::path& state_directory,
                                            const std::filesystem::path& cluster_directory);

}  // namespace spintag::db
