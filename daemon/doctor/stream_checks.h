// daemon/doctor/stream_checks.h - whether each station's stream opens and holds audio.
#pragma once

#include <span>

#include "config/settings.h"
#include "daemon/doctor/finding.h"

namespace spintag::daemon {

/// Several at a time; 5 s to open, and a network that says nothing for 5 s is a failure. Reports in
/// the order of the stations.
void check_streams(std::span<const config::Station> stations, const Report& report);

}  // namespace spintag::daemon
