// tests/unit/daemon/scoreboard_test.cpp - tests daemon/demo/scoreboard.h.
#include "daemon/demo/scoreboard.h"

#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

TEST(Scoreboard, CountsARightTagWithItsDelay) {
  Scoreboard board;
  board.aired("a", 100, 40);
  EXPECT_EQ(board.tagged("a", 107.5), 7.5);
  const auto result = board.result(200);
  EXPECT_EQ(result.played, 1U);
  EXPECT_EQ(result.recognised, 1U);
  EXPECT_EQ(result.wrong, 0U);
  EXPECT_EQ(result.median_delay_s, 7.5);
}

TEST(Scoreboard, ATagOfWhatIsNotOnAirIsWrong) {
  Scoreboard board;
  board.aired("a", 100, 40);
  EXPECT_FALSE(board.tagged("b", 107));
  EXPECT_FALSE(board.tagged("a", 99)) << "before it began";
  EXPECT_FALSE(board.tagged("a", 100 + 40 + Scoreboard::kGrace_s + 1)) << "long after its end";
  const auto result = board.result(200);
  EXPECT_EQ(result.wrong, 3U);
  EXPECT_EQ(result.recognised, 0U);
  ASSERT_EQ(result.missed.size(), 1U);
  EXPECT_EQ(result.missed[0], "a");
}

TEST(Scoreboard, OneAiringTakesOneTag) {
  Scoreboard board;
  board.aired("a", 100, 40);
  EXPECT_TRUE(board.tagged("a", 105));
  EXPECT_FALSE(board.tagged("a", 110));
  board.aired("a", 120, 40);
  EXPECT_EQ(board.tagged("a", 126), 6.0) << "the same song again is another airing";
  EXPECT_EQ(board.result(200).wrong, 1U);
}

TEST(Scoreboard, ASongThatHadNoFairChanceIsNotHeldAgainstAnybody) {
  Scoreboard board;
  board.aired("cut off", 100, 40);
  board.aired("jingle", 50, Scoreboard::kFairChance_s - 1);
  const auto result = board.result(100 + Scoreboard::kFairChance_s - 1);
  EXPECT_EQ(result.played, 0U);
  EXPECT_EQ(result.early, 2U);
  EXPECT_TRUE(result.missed.empty());
}

TEST(Scoreboard, ASongThatWasRecognisedEarlyCounts) {
  Scoreboard board;
  board.aired("quick", 100, 40);
  EXPECT_TRUE(board.tagged("quick", 104));
  const auto result = board.result(105);
  EXPECT_EQ(result.played, 1U);
  EXPECT_EQ(result.recognised, 1U);
  EXPECT_EQ(result.early, 0U);
}

TEST(Scoreboard, MedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  Scoreboard board;
  EXPECT_FALSE(board.result(0).median_delay_s);
  board.aired("a", 0, 40);
  board.aired("b", 40, 40);
  board.tagged("a", 5);
  board.tagged("b", 49);
  EXPECT_EQ(board.result(100).median_delay_s, 7.0);
}

}  // namespace
}  // namespace spintag::daemon
