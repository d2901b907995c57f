// tests/unit/daemon/sample_clock_test.cpp - tests daemon/sample_clock.h.
#include "daemon/sample_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace spintag::daemon {
namespace {

db::TimePoint at(double seconds) {
  return db::TimePoint(std::chrono::hours(24 * 365 * 50)) +
         std::chrono::microseconds(static_cast<std::int64_t>(std::llround(seconds * 1e6)));
}

double seconds_of(db::TimePoint time) {
  return std::chrono::duration<double>(time - at(0)).count();
}

TEST(SampleClock, ASteadyStreamIsAnchoredWhereItArrives) {
  SampleClock clock;
  for (int s = 1; s <= 20; ++s) clock.arrived(s, at(100 + s));
  EXPECT_NEAR(seconds_of(clock.utc(5)), 105, 1e-5);
  EXPECT_NEAR(clock.stream_s(at(112)), 12, 1e-5);
  EXPECT_NEAR(clock.accuracy_s(), SampleClockParams{}.floor_accuracy_s, 0.01);
}

TEST(SampleClock, ABurstOnConnectionIsOldAudio) {
  SampleClock clock;
  // Four seconds at once at 100, then real time: the first sample was broadcast at 96.
  for (int s = 1; s <= 4; ++s) clock.arrived(s, at(100));
  for (int s = 5; s <= 20; ++s) clock.arrived(s, at(96 + s));
  EXPECT_NEAR(seconds_of(clock.utc(0)), 96, 1e-3);
}

TEST(SampleClock, ALateArrivalMovesNothingAndIsToldAsJitter) {
  SampleClock steady;
  SampleClock jittery;
  for (int s = 1; s <= 60; ++s) {
    steady.arrived(s, at(100 + s));
    jittery.arrived(s, at(100 + s + (s % 2 == 0 ? 2.0 : 0.0)));
  }
  EXPECT_NEAR(seconds_of(jittery.utc(30)), seconds_of(steady.utc(30)), 0.01);
  EXPECT_GT(jittery.accuracy_s(), steady.accuracy_s() + 0.5);
  EXPECT_NEAR(jittery.lag_s(), 2.0, 0.01);
}

TEST(SampleClock, FollowsAnEncoderWhoseCrystalIsSlow) {
  SampleClock clock;
  // 50 ppm slow: after ten hours a sample arrives 1.8 s later than it counts.
  for (int s = 1; s <= 36'000; ++s) clock.arrived(s, at(100 + s * 1.00005));
  EXPECT_NEAR(seconds_of(clock.utc(36'000)), 100 + 36'000 * 1.00005, 0.05);
}

TEST(SampleClock, FollowsAnEncoderWhoseCrystalIsFast) {
  SampleClock clock;
  for (int s = 1; s <= 36'000; ++s) clock.arrived(s, at(100 + s * 0.99995));
  EXPECT_NEAR(seconds_of(clock.utc(36'000)), 100 + 36'000 * 0.99995, 0.05);
}

TEST(SampleClock, IsAnchoredAnewAfterAReconnection) {
  SampleClock clock;
  for (int s = 1; s <= 10; ++s) clock.arrived(s, at(100 + s));
  clock.reconnected();
  for (int s = 31; s <= 40; ++s) clock.arrived(s, at(100 + s + 7));
  EXPECT_NEAR(seconds_of(clock.utc(35)), 142, 1e-5);
}

TEST(SampleClock, InputFasterThanRealTimeKeepsTheNewestSampleAtNow) {
  SampleClock clock;
  for (int s = 1; s <= 1000; ++s) clock.arrived(s, at(100 + s * 0.01));
  EXPECT_NEAR(seconds_of(clock.utc(1000)), 110, 0.01);
  EXPECT_LT(clock.lag_s(), 0.01);
}

}  // namespace
}  // namespace spintag::daemon
