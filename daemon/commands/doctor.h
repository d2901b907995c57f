// daemon/commands/doctor.h - `spintag doctor`: what works on this box, and how to mend the rest.
#pragma once

#include "daemon/cli.h"

namespace spintag::daemon {

struct DoctorOptions {
  bool json = false;         ///< --json: NDJSON, one object a finding
  bool replay_dead = false;  ///< --replay-dead: events that were given up are sent again
};

/// @return exit status: kDone even with warnings, kSomeFailed if a finding is a failure
int run_doctor(const CommonOptions& options, const DoctorOptions& doctor = {});

}  // namespace spintag::daemon
