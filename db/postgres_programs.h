// db/postgres_programs.h - where initdb and postgres are on this box.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace spintag::db {

struct PostgresPrograms {
  std::filesystem::path initdb;
  std::filesystem::path postgres;
};

/// The newest PostgreSQL installed, or the one of `major` (that made a cluster: another cannot read
/// it). Looks in /usr/lib/postgresql/*/bin, then `pg_config --bindir`, then PATH.
/// @throws StoreError(unreachable) that names the package to install
PostgresPrograms find_postgres(std::optional<int> major);

/// The major version that made the cluster in `data_directory`; nothing if there is none, or only a
/// part of one.
std::optional<int> cluster_version(const std::filesystem::path& data_directory);

}  // namespace spintag::db
