// daemon/rfc3339.cpp - times as RFC 3339 text.
#include "daemon/rfc3339.h"

#include <fmt/format.h>

#include <charconv>

namespace spintag::daemon {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// Takes fixed-width fields off the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  bool skip(std::string_view any_of) {
    if (text_.empty() || any_of.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// Exactly `width` digits.
  std::optional<int> number(std::size_t width) {
    if (text_.size() < width) return std::nullopt;
    int value = 0;
    for (const char digit : text_.substr(0, width)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      value = value * 10 + (digit - '0');
    }
    text_.remove_prefix(width);
    return value;
  }
  /// One digit or more behind a decimal point; what is finer than a microsecond is cut off.
  std::optional<microseconds> fraction() {
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; ++digits) {
      if (digits < 6) value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 6; ++digits) value *= 10;
    return microseconds(value);
  }

 private:
  std::string_view text_;
};

std::optional<std::chrono::sys_days> read_date(Cursor& cursor) {
  const auto year = cursor.number(4);
  if (!year || !cursor.skip("-")) return std::nullopt;
  const auto month = cursor.number(2);
  if (!month || !cursor.skip("-")) return std::nullopt;
  const auto day = cursor.number(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::optional<microseconds> read_clock(Cursor& cursor) {
  const auto hour = cursor.number(2);
  if (!hour || *hour > 23 || !cursor.skip(":")) return std::nullopt;
  const auto minute = cursor.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  microseconds clock = hours(*hour) + minutes(*minute);
  if (!cursor.skip(":")) return clock;
  const auto second = cursor.number(2);
  if (!second || *second > 60) return std::nullopt;  // 60: a leap second
  clock += seconds(*second);
  if (!cursor.skip(".")) return clock;
  const auto fraction = cursor.fraction();
  if (!fraction) return std::nullopt;
  return clock + *fraction;
}

/// How far the written clock is ahead of UTC.
std::optional<microseconds> read_offset(Cursor& cursor) {
  if (cursor.done() || cursor.skip("Zz")) return microseconds(0);
  const bool west = cursor.skip("-");
  if (!west && !cursor.skip("+ "))
    return std::nullopt;  // ' ': a '+' in a query that nobody escaped
  const auto hour = cursor.number(2);
  if (!hour || *hour > 23) return std::nullopt;
  cursor.skip(":");
  const auto minute = cursor.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  const microseconds offset = hours(*hour) + minutes(*minute);
  return west ? -offset : offset;
}

}  // namespace

std::string to_rfc3339(db::TimePoint time) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const auto clock = std::chrono::floor<std::chrono::milliseconds>(time - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock / 3'600'000, clock / 60'000 % 60, clock / 1000 % 60, clock % 1000);
}

std::optional<db::TimePoint> from_rfc3339(std::string_view text) {
  Cursor cursor(text);
  const auto date = read_date(cursor);
  if (!date) return std::nullopt;
  if (cursor.done()) return db::TimePoint(*date);
  if (!cursor.skip("Tt ")) return std::nullopt;
  const auto clock = read_clock(cursor);
  if (!clock) return std::nullopt;
  const auto offset = read_offset(cursor);
  if (!offset || !cursor.done()) return std::nullopt;
  return db::TimePoint(*date) + *clock - *offset;
}

db::TimePoint utc_now() {
  return std::chrono::floor<microseconds>(std::chrono::system_clock::now());
}

}  // namespace spintag::daemon
