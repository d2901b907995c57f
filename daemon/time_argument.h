// daemon/time_argument.h - times as people type them on the command line.
#pragma once

#include <optional>
#include <string_view>

#include "db/store.h"

namespace spintag::daemon {

/// Which end of a range a time is: a bare date as an end means that whole day.
enum class RangeEnd { from, to };

/// "2026-03-01", RFC 3339 ("2026-03-01T12:00:00Z"), or a time ago: "90s", "30m", "2h", "7d", "1w".
/// @return nothing if the text is none of these
std::optional<db::TimePoint> parse_time_argument(std::string_view text, RangeEnd end,
                                                 db::TimePoint now);

}  // namespace spintag::daemon
