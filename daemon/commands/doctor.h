// daemon/commands/doctor.h - `spintag doctor`: what works on this box, one line each, with the
// mend.
#pragma once

#include "daemon/cli.h"

namespace spintag::daemon {

/// @return exit status
int run_doctor(const CommonOptions& options);

}  // namespace spintag::daemon
