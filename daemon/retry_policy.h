// daemon/retry_policy.h - when a failed delivery is tried again.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string_view>

#include "daemon/rfc3339.h"

namespace spintag::daemon {

/// Wait after a failure, before the attempt after it.
/// @param delays         wait before the n-th attempt, n from 0; the first is not looked at here
/// @param attempts_made  how many have failed, at least 1
/// @param jitter         the wait is lengthened by up to this share of itself
/// @param random         in [0, 1)
/// @return nothing when no attempt is left
std::optional<std::chrono::milliseconds> wait_after_failure(
    std::span<const std::chrono::milliseconds> delays, int attempts_made, double jitter,
    double random);

/// Header Retry-After, RFC 9110 section 10.2.3: seconds, or an HTTP date ("Fri, 31 Dec 1999
/// 23:59:59 GMT").
/// @return how long from `now`, never negative; nothing if the text is neither
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, db::TimePoint now);

}  // namespace spintag::daemon
