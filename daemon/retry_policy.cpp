// daemon/retry_policy.cpp - when a failed delivery is tried again.
#include "daemon/retry_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace spintag::daemon {

std::optional<std::chrono::milliseconds> wait_after_failure(
    std::span<const std::chrono::milliseconds> delays, int attempts_made, double jitter,
    double random) {
  const auto next = static_cast<std::size_t>(std::max(attempts_made, 1));
  if (next >= delays.size()) return std::nullopt;
  const double wait = static_cast<double>(delays[next].count()) * (1 + jitter * random);
  return std::chrono::milliseconds(std::llround(wait));
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, db::TimePoint now) {
  using std::chrono::seconds;
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    constexpr std::int64_t kLongest = 10LL * 366 * 24 * 3600;
    std::int64_t count = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), count);
    return seconds(result.ec == std::errc() ? std::min(count, kLongest) : kLongest);
  }
  // IMF-fixdate of RFC 9110 section 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT", always 29 letters.
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT") || text.substr(3, 2) != ", ")
    return std::nullopt;
  const auto month = std::ranges::find(kMonths, text.substr(8, 3));
  if (month == kMonths.end()) return std::nullopt;
  const auto number = month - kMonths.begin() + 1;
  const auto date = from_rfc3339(fmt::format("{}-{:02}-{}T{}Z", text.substr(12, 4), number,
                                             text.substr(5, 2), text.substr(17, 8)));
  if (!date) return std::nullopt;
  return std::max(seconds(0), std::chrono::ceil<seconds>(*date - now));
}

}  // namespace spintag::daemon
