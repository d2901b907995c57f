// db/migrations.h - numbered SQL files that bring a database up to date.
#pragma once

#include <span>

namespace spintag::db {

class Connection;

struct Migration {
  int version;
  const char* name;
  const char* sql;
};

/// db/migrations/*.sql, put into the program at build time, by version.
std::span<const Migration> migrations();

/// Applies what is missing, all or nothing, under an advisory lock: of two programs that start
/// together one waits. Expects a fresh connection.
/// @throws StoreError(schema) if the database was made by a newer spintag or its schema `spintag`
/// is somebody else's
void bring_up_to_date(Connection& connection);

}  // namespace spintag::db
