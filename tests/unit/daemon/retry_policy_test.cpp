// tests/unit/daemon/retry_policy_test.cpp - when a failed delivery is tried again.
#include "daemon/retry_policy.h"

#include <gtest/gtest.h>

#include "daemon/delivery.h"

namespace spintag::daemon {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(RetryPolicy, ScheduleIsThatOfTheSpecificationThenDead) {
  const DeliveryParams params;
  const std::vector<milliseconds> expected = {seconds(5), minutes(5), minutes(30),
                                              hours(2),   hours(5),   hours(10),
                                              hours(14),  hours(20),  hours(24)};
  for (std::size_t failed = 1; failed <= expected.size(); ++failed) {
    EXPECT_EQ(wait_after_failure(params.attempt_delays, static_cast<int>(failed), params.jitter, 0),
              expected[failed - 1]);
  }
  EXPECT_FALSE(wait_after_failure(params.attempt_delays, 10, params.jitter, 0));
}

TEST(RetryPolicy, JitterLengthensByItsShareAtMost) {
  const std::vector<milliseconds> delays = {seconds(0), seconds(10)};
  EXPECT_EQ(wait_after_failure(delays, 1, 0.1, 0.5), milliseconds(10'500));
  EXPECT_EQ(wait_after_failure(delays, 1, 0.1, 1.0), milliseconds(11'000));
}

TEST(RetryAfter, IsSecondsOrADate) {
  const db::TimePoint now = from_rfc3339("1994-11-06T08:49:00Z").value();
  EXPECT_EQ(parse_retry_after("120", now), seconds(120));
  EXPECT_EQ(parse_retry_after("0", now), seconds(0));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), seconds(37));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:48:37 GMT", now), seconds(0)) << "past: now";
  EXPECT_GT(parse_retry_after("99999999999999999999999", now), hours(24));
}

TEST(RetryAfter, IgnoresWhatIsNeither) {
  const db::TimePoint now{};
  for (const char* text : {"", "soon", "-5", "1.5", "Sun, 06 Nop 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 CET"}) {
    EXPECT_FALSE(parse_retry_after(text, now)) << text;
  }
}

}  // namespace
}  // namespace spintag::daemon
