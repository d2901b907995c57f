// daemon/doctor/store_checks.h - PostgreSQL, the catalogue, events that wait, and the index cache.
#pragma once

#include "config/settings.h"
#include "daemon/doctor/finding.h"

namespace spintag::daemon {

/// PostgreSQL's programs, which the private cluster needs. @return false if they are missing
bool check_postgresql_programs(const Report& report);

/// Connects; a private cluster that is not there yet is not made.
/// @param replay_dead  events that were given up are sent again
void check_store(const config::Settings& settings, bool replay_dead, const Report& report);

void check_snapshot(const config::Settings& settings, const Report& report);

}  // namespace spintag::daemon
