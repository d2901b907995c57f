// daemon/rfc3339.h - times as RFC 3339 text, the way every interface of spintag writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/store.h"

namespace spintag::daemon {

/// UTC with milliseconds and Z, rounded down: "2026-03-01T12:34:56.789Z".
std::string to_rfc3339(db::TimePoint time);

/// Reads RFC 3339 with any offset and any number of decimals; also a bare date ("2026-03-01",
/// midnight UTC) and a time without an offset (taken as UTC). @return nothing if the text is not a
/// time
std::optional<db::TimePoint> from_rfc3339(std::string_view text);

/// The wall clock, as the store keeps it.
db::TimePoint utc_now();

}  // namespace spintag::daemon
