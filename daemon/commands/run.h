// daemon/commands/run.h - `spintag run`: the daemon, until SIGTERM or SIGINT.
#pragma once

#include "daemon/cli.h"

namespace spintag::daemon {

/// @return exit status
int run_daemon(const CommonOptions& options);

}  // namespace spintag::daemon
