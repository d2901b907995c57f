// tests/unit/daemon/segmenter_test.cpp - tests daemon/segmenter.h.
#include "daemon/segmenter.h"

#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

using What = SegmentEdge::What;

class SegmenterTest : public ::testing::Test {
 protected:
  void hear(Sound sound, int seconds, bool matched = false, double play_start_s = 0) {
    for (int i = 0; i < seconds; ++i, now_ += 1) {
      segmenter_.second({now_, -20, sound}, matched, play_start_s, edges_);
    }
  }

  Segmenter segmenter_;
  std::vector<SegmentEdge> edges_;
  double now_ = 0;
};

TEST_F(SegmenterTest, MatchedTimeHasNoSegment) {
  hear(Sound::music, 100, true);
  EXPECT_TRUE(edges_.empty());
}

TEST_F(SegmenterTest, FourSecondsOfSilenceAreToldWithTheirStartAndEnd) {
  hear(Sound::music, 10, true);
  hear(Sound::silence, 9);
  hear(Sound::music, 3, true, 19);
  ASSERT_EQ(edges_.size(), 2U);
  EXPECT_EQ(edges_[0].kind, "silence");
  EXPECT_EQ(edges_[0].start_s, 10);
  EXPECT_EQ(edges_[1].what, What::ended);
  EXPECT_EQ(edges_[1].end_s, 19);
}

TEST_F(SegmenterTest, AShortSilenceIsNotTold) {
  hear(Sound::music, 10, true);
  hear(Sound::silence, 3);
  hear(Sound::music, 10, true);
  EXPECT_TRUE(edges_.empty());
}

TEST_F(SegmenterTest, UnmatchedTimeIsNamedOnlyWhenASongWouldHaveBeenRecognised) {
  hear(Sound::music, 14);
  EXPECT_TRUE(edges_.empty());
  hear(Sound::music, 1);
  ASSERT_EQ(edges_.size(), 1U);
  EXPECT_EQ(edges_[0].kind, "music");
  EXPECT_EQ(edges_[0].start_s, 0);
}

TEST_F(SegmenterTest, ASegmentEndsWhereThePlayThatEndsItBegan) {
  hear(Sound::speech, 40);
  hear(Sound::music, 1, true, 33.5);
  ASSERT_EQ(edges_.size(), 2U);
  EXPECT_EQ(edges_[1].kind, "speech");
  EXPECT_EQ(edges_[1].end_s, 33.5);
}

TEST_F(SegmenterTest, APlayThatBeganEarlierLeavesNothingOfTheSegment) {
  hear(Sound::music, 20, true);
  hear(Sound::music, 20);
  hear(Sound::music, 1, true, 2);
  ASSERT_EQ(edges_.size(), 2U);
  EXPECT_EQ(edges_[1].end_s, edges_[1].start_s);
}

TEST_F(SegmenterTest, SpeechBecomesMusicAfterItHasBeenSoForAWhile) {
  hear(Sound::speech, 40);
  hear(Sound::music, 5);
  hear(Sound::speech, 5);
  EXPECT_EQ(edges_.size(), 1U);
  hear(Sound::music, 8);
  ASSERT_EQ(edges_.size(), 3U);
  EXPECT_EQ(edges_[1].what, What::ended);
  EXPECT_EQ(edges_[1].end_s, 50);
  EXPECT_EQ(edges_[2].kind, "music");
  EXPECT_EQ(edges_[2].start_s, 50);
}

TEST_F(SegmenterTest, SilenceEndsWhatWasOpen) {
  hear(Sound::speech, 30);
  hear(Sound::silence, 5);
  ASSERT_EQ(edges_.size(), 3U);
  EXPECT_EQ(edges_[1].end_s, 30);
  EXPECT_EQ(edges_[2].kind, "silence");
  EXPECT_EQ(segmenter_.open_kind(), "silence");
}

TEST_F(SegmenterTest, CloseEndsTheOpenSegmentAndStartsAnew) {
  hear(Sound::music, 30);
  segmenter_.close(30, edges_);
  ASSERT_EQ(edges_.size(), 2U);
  EXPECT_EQ(edges_[1].end_s, 30);
  EXPECT_EQ(segmenter_.open_kind(), "");
  segmenter_.close(31, edges_);
  EXPECT_EQ(edges_.size(), 2U);
}

}  // namespace
}  // namespace spintag::daemon
