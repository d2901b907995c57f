// daemon/web/metrics.h - the status as Prometheus text.
#pragma once

#include <string>

#include "daemon/status_board.h"

namespace spintag::daemon {

/// Exposition format 0.0.4. Names begin with spintag_, units are base units, labels are station and
/// sink only.
std::string metrics_text(const Status& status);

}  // namespace spintag::daemon
