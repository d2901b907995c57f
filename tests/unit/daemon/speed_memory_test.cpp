// tests/unit/daemon/speed_memory_test.cpp - tests daemon/speed_memory.h.
#include "daemon/speed_memory.h"

#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

/// How often any speed is looked for in so much unknown music that follows `known_until_s`.
int looks(SpeedMemory& speeds, double known_until_s, double unknown_s) {
  int count = 0;
  for (double now = known_until_s + 1; now <= known_until_s + unknown_s; ++now) {
    if (!speeds.wants_any(now, now - known_until_s)) continue;
    speeds.looked_for_any(now);
    ++count;
  }
  return count;
}

TEST(SpeedMemory, TheTrueSpeedIsAlwaysLikely) {
  SpeedMemory speeds;
  ASSERT_EQ(speeds.likely().size(), 1U);
  EXPECT_EQ(speeds.likely()[0].tempo, 1);
  EXPECT_EQ(speeds.likely()[0].pitch, 1);
  speeds.song_began(1.002, 1.001);  // a window is not that exact
  EXPECT_EQ(speeds.likely().size(), 1U);
  for (const double speed : {1.02, 0.97, 1.05, 1.08}) speeds.song_began(speed, speed);
  EXPECT_EQ(speeds.likely()[0].tempo, 1);
}

TEST(SpeedMemory, TheNewestSpeedsAreKept) {
  SpeedMemory speeds({.remembered = 2});
  for (const double speed : {1.02, 0.97, 1.05, 0.97}) speeds.song_began(speed, speed);
  const auto likely = speeds.likely();
  ASSERT_EQ(likely.size(), 3U);
  EXPECT_EQ(likely[1].tempo, 0.97);
  EXPECT_EQ(likely[2].tempo, 1.05);
}

TEST(SpeedMemory, ABetterMeasurementTakesThePlaceOfTheFirst) {
  SpeedMemory speeds;
  speeds.song_began(1.033, 1.03);
  speeds.heard(1.0302, 1.0301);
  ASSERT_EQ(speeds.likely().size(), 2U);
  EXPECT_EQ(speeds.likely()[1].tempo, 1.0302);
}

TEST(SpeedMemory, TempoAndPitchMayDiffer) {
  SpeedMemory speeds;
  speeds.song_began(1, 0.944);
  ASSERT_EQ(speeds.likely().size(), 2U);
  EXPECT_EQ(speeds.likely()[1].tempo, 1);
  EXPECT_EQ(speeds.likely()[1].pitch, 0.944);
}

TEST(SpeedMemory, TheLongerMusicStaysUnknownTheSeldomerItIsSearched) {
  SpeedMemory speeds;
  EXPECT_EQ(looks(speeds, 0, 6), 0);
  EXPECT_GE(looks(speeds, 100, 30), 3);
  const int ten_minutes = looks(speeds, 1000, 600);
  EXPECT_GE(ten_minutes, 600 / 20);
  EXPECT_LE(ten_minutes, 600 / 20 + 6);
}

TEST(SpeedMemory, AStationThatKeepsItsSpeedIsSearchedSeldomer) {
  SpeedMemory speeds;
  speeds.song_began(1.03, 1.03);
  const int first = looks(speeds, 0, 300);
  speeds.song_began(1.031, 1.03);
  const int settled = looks(speeds, 1000, 300);
  EXPECT_LT(settled, 0.6 * first);
  EXPECT_GE(settled, 300 / 40);
  speeds.song_began(0.95, 0.95);
  EXPECT_EQ(looks(speeds, 2000, 300), first) << "it keeps its speed no more";
}

}  // namespace
}  // namespace spintag::daemon
