// tests/unit/daemon/rfc3339_test.cpp - times as RFC 3339 text.
#include "daemon/rfc3339.h"

#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

using std::chrono::microseconds;

db::TimePoint at(std::int64_t us) { return db::TimePoint(microseconds(us)); }

TEST(Rfc3339, WritesMillisecondsAndZ) {
  EXPECT_EQ(to_rfc3339(at(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(at(784'111'777'123'999)), "1994-11-06T08:49:37.123Z");  // RFC 9110's date
  EXPECT_EQ(to_rfc3339(at(-1)), "1969-12-31T23:59:59.999Z");
}

TEST(Rfc3339, ReadsWhatItWrites) {
  for (const std::int64_t ms : {0LL, 951'782'400'000LL, 1'767'225'599'999LL}) {
    EXPECT_EQ(from_rfc3339(to_rfc3339(at(ms * 1000))), at(ms * 1000)) << ms;
  }
}

TEST(Rfc3339, ReadsOffsetsFractionsAndShorterForms) {
  EXPECT_EQ(from_rfc3339("1994-11-06T08:49:37Z"), at(784'111'777'000'000));
  EXPECT_EQ(from_rfc3339("1994-11-06T10:19:37+01:30"), at(784'111'777'000'000));
  EXPECT_EQ(from_rfc3339("1994-11-05 23:49:37-0900"), at(784'111'777'000'000));
  EXPECT_EQ(from_rfc3339("1994-11-06t08:49:37.1234567z"), at(784'111'777'123'456));
  EXPECT_EQ(from_rfc3339("1994-11-06T08:49"), at(784'111'740'000'000));
  EXPECT_EQ(from_rfc3339("2000-02-29"), at(951'782'400'000'000));
}

TEST(Rfc3339, RefusesWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "1994-13-01", "1999-02-29", "1994-11-06T24:00",
                           "1994-11-06T08:60", "1994-11-06T08:49:37.", "1994-11-06T08:49:37Zx",
                           "1994-11-06T08:49:37+1", "94-11-06", "1994-11-06T", "+994-11-06"}) {
    EXPECT_FALSE(from_rfc3339(text)) << text;
  }
}

}  // namespace
}  // namespace spintag::daemon
