// tests/unit/daemon/time_argument_test.cpp - daemon/time_argument.h.
#include "daemon/time_argument.h"

#include <gtest/gtest.h>

#include "daemon/rfc3339.h"

namespace spintag::daemon {
namespace {

const db::TimePoint kNow = from_rfc3339("2026-03-10T12:00:00Z").value();

std::string parsed(std::string_view text, RangeEnd end = RangeEnd::from) {
  const auto time = parse_time_argument(text, end, kNow);
  return time ? to_rfc3339(*time) : "nothing";
}

TEST(TimeArgument, AgoCountsBackFromNow) {
  EXPECT_EQ(parsed("90s"), "2026-03-10T11:58:30.000Z");
  EXPECT_EQ(parsed("30m"), "2026-03-10T11:30:00.000Z");
  EXPECT_EQ(parsed("2h"), "2026-03-10T10:00:00.000Z");
  EXPECT_EQ(parsed("1d"), "2026-03-09T12:00:00.000Z");
  EXPECT_EQ(parsed("2w"), "2026-02-24T12:00:00.000Z");
}

TEST(TimeArgument, BareDateAsAnEndIsThatWholeDay) {
  EXPECT_EQ(parsed("2026-02-28", RangeEnd::from), "2026-02-28T00:00:00.000Z");
  EXPECT_EQ(parsed("2026-02-28", RangeEnd::to), "2026-03-01T00:00:00.000Z");
}

TEST(TimeArgument, Rfc3339MeansItself) {
  EXPECT_EQ(parsed("2026-03-01T01:00:00+02:00", RangeEnd::to), "2026-02-28T23:00:00.000Z");
}

TEST(TimeArgument, AnythingElseIsNoTime) {
  for (const char* text : {"", "h", "2", "2x", "-2h", "1.5h", "yesterday", "2026-13-01"}) {
    EXPECT_EQ(parsed(text), "nothing") << text;
  }
}

}  // namespace
}  // namespace spintag::daemon
