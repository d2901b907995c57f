// db/server_address.h - a database URL taken apart: how to connect, how to name the server, what
// never to print.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace spintag::db {

struct ServerAddress {
  std::vector<std::pair<std::string, std::string>> options;  ///< libpq's keywords, ours added
  std::string name;      ///< "localhost:5432, database spintag, user wjrh"
  std::string password;  ///< as given in the URL; empty = none

  /// `message` without the password.
  std::string mask(std::string message) const;
};

/// @param url  a libpq URL or connection string
/// @throws StoreError(refused) that does not repeat the URL, which may hold a password
ServerAddress parse_address(const std::string& url);

/// What to do about a failed connection, for those that people meet; empty = nothing to add.
std::string connection_hint(const std::string& reason);

}  // namespace spintag::db
