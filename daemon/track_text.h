// daemon/track_text.h - a track and a place in it, for a log line.
#pragma once

#include <string>

namespace spintag::daemon {

/// "Artist - Title" of a Play's track_json; what is missing is left out, "track 7" when both are.
std::string track_text(const std::string& track_json);

/// "3:07"; whole seconds, rounded down.
std::string minutes_text(double seconds);

}  // namespace spintag::daemon
