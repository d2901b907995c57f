// daemon/commands/hum.h - `spintag hum`: which tune somebody hums.
#pragma once

#include <string>

#include "daemon/cli.h"

namespace spintag::daemon {

struct HumOptions {
  std::string file;  ///< or "-"
  bool json = false;
  int top = 10;  ///< answers, at most
};

/// @return exit status
int run_hum(const CommonOptions& common, const HumOptions& options);

}  // namespace spintag::daemon
