// tests/unit/daemon/track_text_test.cpp - tests daemon/track_text.h.
#include "daemon/track_text.h"

#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

TEST(TrackText, NamesArtistAndTitle) {
  EXPECT_EQ(track_text(R"({"artist":"A","title":"T"})"), "A - T");
}

TEST(TrackText, LeavesOutWhatIsMissing) {
  EXPECT_EQ(track_text(R"({"artist":"","title":"T"})"), "T");
  EXPECT_EQ(track_text(R"({"artist":"A"})"), "A");
  EXPECT_EQ(track_text(R"({"track_id":7,"artist":"","title":""})"), "track 7");
}

TEST(TrackText, NoJsonIsAnUnknownTrack) {
  EXPECT_EQ(track_text(""), "unknown track");
  EXPECT_EQ(track_text("[1]"), "unknown track");
}

TEST(MinutesText, RoundsDownAndNeverGoesBelowZero) {
  EXPECT_EQ(minutes_text(187.9), "3:07");
  EXPECT_EQ(minutes_text(0), "0:00");
  EXPECT_EQ(minutes_text(-2), "0:00");
  EXPECT_EQ(minutes_text(3600), "60:00");
}

}  // namespace
}  // namespace spintag::daemon
