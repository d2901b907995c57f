// daemon/log_entry_text.h - a LogEntry as one line of JSON, the way the spool keeps it.
#pragma once

#include <string>

#include "daemon/play_log.h"

namespace spintag::daemon {

std::string to_text(const LogEntry& entry);

/// @throws std::invalid_argument if the text is not such a line
LogEntry from_text(const std::string& text);

}  // namespace spintag::daemon
