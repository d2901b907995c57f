// daemon/commands/demo.h - `spintag demo`: a radio station and its listener on this box.
#pragma once

#include <filesystem>

#include "daemon/cli.h"

namespace spintag::daemon {

struct DemoOptions {
  std::filesystem::path music;  ///< --music FOLDER; empty = music that this box has
  int seconds = 0;              ///< --seconds N: ends by itself; 0 = at Ctrl-C
  int port = 0;                 ///< --port N: status page on loopback; 0 = any free port
};

/// @return exit status
int run_demo(const CommonOptions& options, const DemoOptions& demo);

}  // namespace spintag::daemon
