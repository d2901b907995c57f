// db/child_process.h - starts a program with clean hands: no descriptors, signals, terminal or
// privileges of ours.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "db/server_account.h"

namespace spintag::db {

struct ChildCommand {
  std::vector<std::string> arguments;    ///< arguments[0] is the program's absolute path
  std::optional<ServerAccount> account;  ///< whom to become
  int directory = -1;  ///< kept open in the child as descriptor kChildDirectory, if >= 0
  int output = -1;     ///< standard output and error
};

/// The number of ChildCommand::directory in the child: /proc/self/fd/3 names that directory there,
/// even where a parent of it cannot be entered by the account that the child has become.
constexpr int kChildDirectory = 3;

/// Runs to the end; the child dies with this thread. @return exit status, 128 + signal if it was
/// killed
/// @throws StoreError(unreachable) if it cannot be started
int run_child(const ChildCommand& command);

/// Starts a process that is nobody's child, in a session of its own, and lives on. @return its id
pid_t start_detached(const ChildCommand& command);

}  // namespace spintag::db
