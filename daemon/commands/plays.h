// daemon/commands/plays.h - `spintag plays`: what was on air.
#pragma once

#include <string>

#include "daemon/cli.h"

namespace spintag::daemon {

struct PlaysOptions {
  std::string station;  ///< empty = all
  std::string from;     ///< as typed; see time_argument.h
  std::string to;
  std::string format;  ///< "csv", "json" or empty: a table on a terminal, CSV on a pipe
};

/// @return exit status
int run_plays(const CommonOptions& common, const PlaysOptions& options);

}  // namespace spintag::daemon
