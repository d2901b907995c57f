// daemon/time_argument.cpp - times as people type them on the command line.
#include "daemon/time_argument.h"

#include <charconv>

#include "daemon/rfc3339.h"

namespace spintag::daemon {

namespace {

std::optional<std::chrono::seconds> unit_of(char letter) {
  using namespace std::chrono_literals;
  switch (letter) {
    case 's':
      return 1s;
    case 'm':
      return 1min;
    case 'h':
      return 1h;
    case 'd':
      return 24h;
    case 'w':
      return 168h;
    default:
      return std::nullopt;
  }
}

std::optional<db::TimePoint> parse_ago(std::string_view text, db::TimePoint now) {
  if (text.size() < 2) return std::nullopt;
  const auto unit = unit_of(text.back());
  const std::string_view digits = text.substr(0, text.size() - 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (!unit || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return now - number * *unit;
}

}  // namespace

std::optional<db::TimePoint> parse_time_argument(std::string_view text, RangeEnd end,
                                                 db::TimePoint now) {
  if (const auto ago = parse_ago(text, now)) return ago;
  auto time = from_rfc3339(text);
  constexpr std::size_t kBareDateLength = 10;
  if (time && end == RangeEnd::to && text.size() == kBareDateLength)
    *time += std::chrono::hours(24);
  return time;
}

}  // namespace spintag::daemon
