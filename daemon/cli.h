// daemon/cli.h - the command line: what every command is given, and what its exit status means.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "config/settings.h"

namespace spintag::daemon {

/// Exit statuses, a contract with scripts. A command returns one of these.
inline constexpr int kDone = 0;
inline constexpr int kSomeFailed =
    1;                            ///< some of the work failed; each failure was named on stderr
inline constexpr int kUsage = 2;  ///< wrong usage or configuration
inline constexpr int kUnreachable = 3;  ///< the database or the device cannot be reached

/// Options that every command takes. What was not given is empty.
struct CommonOptions {
  std::optional<std::string> database;   ///< --database URL
  std::optional<std::string> device;     ///< --device auto|cpu|cuda:N
  std::filesystem::path config;          ///< --config FILE
  std::optional<std::string> log_level;  ///< --log-level
};

/// The effective settings: file, environment, then these options.
/// @throws config::ConfigError
config::Loaded load_settings(const CommonOptions& options);

/// Parses the command line and runs the command it names. Errors that a command throws become one
/// line on stderr and the exit status that fits (ConfigError 2; StoreError(unreachable or schema)
/// and DeviceError 3; anything else 1).
int run_cli(int argc, const char* const* argv);

}  // namespace spintag::daemon
