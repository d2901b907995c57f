// daemon/commands/config.h - `spintag config`: is the configuration right, and what is in force?
#pragma once

#include "daemon/cli.h"

namespace spintag::daemon {

/// Says that the configuration is right, or throws ConfigError with every fault. @return exit
/// status
int run_config_check(const CommonOptions& common);

/// Prints every setting in force and where it comes from; secrets masked. @return exit status
int run_config_print(const CommonOptions& common);

}  // namespace spintag::daemon
