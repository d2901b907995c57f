// tests/unit/daemon/tracker_test.cpp - tests daemon/tracker.h on scripted streams.
#include "daemon/tracker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/unit/daemon/scripted_stream.h"

namespace spintag::daemon {
namespace {

using What = SpinEvent::What;

class TrackerTest : public ::testing::Test {
 protected:
  void play(double until_s) {
    for (; now_ < until_s; ++now_) tracker_.tick(stream_, heard_from_, now_ + 1, true, events_);
  }
  std::vector<SpinEvent> of(What what) const {
    std::vector<SpinEvent> some;
    for (const SpinEvent& event : events_) {
      if (event.what == what) some.push_back(event);
    }
    return some;
  }

  ScriptedStream stream_;
  Tracker tracker_;
  std::vector<SpinEvent> events_;
  double heard_from_ = 0;
  double now_ = 0;
};

TEST_F(TrackerTest, NothingOnAirIsNoPlay) {
  play(60);
  EXPECT_TRUE(events_.empty());
  EXPECT_GT(stream_.searches, 50);
}

TEST_F(TrackerTest, ASecondOfASongIsNotBelieved) {
  // Clear for so long that a window passes the threshold, and none is sure.
  stream_.airings = {{7, 10, 11.2, 0}};
  play(60);
  EXPECT_TRUE(of(What::started).empty());
}

TEST_F(TrackerTest, ASongIsToldFromItsFirstThreeSeconds) {
  stream_.airings = {{7, 20, 150, 0}};
  play(60);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_LE(of(What::started)[0].spin.detected_s, 23);
}

TEST_F(TrackerTest, WeakWindowsMustGoOnToBeBelieved) {
  // 0.14 of the usual score: 2.8 nines in 10 s, and only windows that do not overlap add up.
  stream_.airings = {{7, 20, 40, 0, 0.14}};
  play(80);
  EXPECT_TRUE(of(What::started).empty());
  stream_.airings.push_back({8, 100, 190, 0, 0.14});
  play(170);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_EQ(of(What::started)[0].spin.track_id, 8);
  EXPECT_NEAR(of(What::started)[0].spin.start_s, 100, 0.5);
}

TEST_F(TrackerTest, ASongThatBeginsUnderSpeechIsToldOnceItIsClear) {
  stream_.airings = {{7, 20, 150, 0, 1, {{21, 33}}}};
  play(60);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_LE(of(What::started)[0].spin.detected_s, 36);
}

TEST_F(TrackerTest, APassageOutOfTheMiddleOfATrackIsNoPlay) {
  stream_.airings = {{7, 30, 39, 90}};
  play(80);
  EXPECT_TRUE(of(What::started).empty());
}

TEST_F(TrackerTest, ASongThatGoesOnFromItsMiddleIsAPlayAfterAll) {
  stream_.airings = {{7, 30, 90, 90}};
  play(130);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_GT(of(What::started)[0].spin.detected_s, 40);
  EXPECT_NEAR(of(What::started)[0].spin.start_s, 30, 0.5);
}

TEST_F(TrackerTest, ASongThatWasTakenForALaterRepeatOfItselfIsOnePlay) {
  // Taken for a place 100 s later, it comes to its end while the song goes on.
  stream_.airings = {{7, 0, 100, 100}, {7, 0, 140, 0}};
  play(200);
  EXPECT_EQ(of(What::started).size(), 1U);
  EXPECT_EQ(of(What::resumed).size(), 1U);
  ASSERT_EQ(of(What::corrected).size(), 1U);
  EXPECT_NEAR(of(What::corrected)[0].spin.end_s, 140, 0.5);
}

TEST_F(TrackerTest, ASongThatWasOnWhenTheStreamBeganIsToldAtOnce) {
  stream_.airings = {{7, 0, 90, 90}};
  play(60);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_LE(of(What::started)[0].spin.detected_s, 5);
}

TEST_F(TrackerTest, ANewSpeedIsFoundAndKept) {
  stream_.airings = {{7, 20, 100, 0, 1, {}, 1.03}, {8, 110, 180, 0, 1, {}, 1.03}};
  play(105);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_LE(of(What::started)[0].spin.detected_s, 45);
  EXPECT_NEAR(of(What::started)[0].spin.start_s, 20, 0.5);
  const std::size_t before = stream_.any_speed_at.size();
  play(230);
  ASSERT_EQ(of(What::ended).size(), 2U);
  EXPECT_LE(of(What::started)[1].spin.detected_s, 113) << "the second song need not wait";
  EXPECT_EQ(of(What::ended)[1].spin.speed, 1.03);
  EXPECT_EQ(of(What::ended)[1].spin.pitch, 1.03);
  EXPECT_NEAR(of(What::ended)[1].spin.end_s, 180, 0.5);
  for (std::size_t i = before; i < stream_.any_speed_at.size(); ++i)
    EXPECT_GE(stream_.any_speed_at[i], 180 + 7) << "while a song is known there is nothing to find";
}

TEST_F(TrackerTest, UnknownMusicIsLookedForAtAnySpeedSeldom) {
  play(600);
  EXPECT_GE(stream_.any_speed_at.size(), 30U);
  EXPECT_LE(stream_.any_speed_at.size(), 36U);
}

TEST_F(TrackerTest, ThePlayFromBeforeTheRestartTellsTheSpeed) {
  tracker_.expect({.track_id = 7, .start_s = -60, .last_seen_s = -8, .speed = 0.97, .pitch = 0.97});
  stream_.airings = {{8, 2, 100, 0, 1, {}, 0.97}};
  play(30);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_LE(of(What::started)[0].spin.detected_s, 5);
  EXPECT_TRUE(stream_.any_speed_at.empty());
}

TEST_F(TrackerTest, APlayBeginsAndEndsWhereItsSoundDoes) {
  stream_.airings = {{7, 20, 100, 0}};
  play(160);
  ASSERT_EQ(of(What::started).size(), 1U);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_EQ(events_.size(), 2U);
  const Spin spin = of(What::ended)[0].spin;
  EXPECT_EQ(spin.track_id, 7);
  EXPECT_NEAR(spin.start_s, 20, 0.5);
  EXPECT_NEAR(spin.end_s, 100, 0.5);
  EXPECT_NEAR(spin.track_start_s, 0, 0.5);
  EXPECT_LE(of(What::started)[0].spin.detected_s, 20 + 6);
}

TEST_F(TrackerTest, AColdStartInTheMiddleOfTheSongIsNotStretched) {
  stream_.airings = {{7, 20, 100, 12.5}};
  play(160);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_NEAR(of(What::ended)[0].spin.start_s, 20, 0.5);
  EXPECT_NEAR(of(What::ended)[0].spin.track_start_s, 12.5, 0.5);
}

TEST_F(TrackerTest, TalkOverTheIntroIsBridged) {
  stream_.airings = {{7, 20, 150, 0, 1, {{21, 33}}}};
  play(60);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_NEAR(of(What::started)[0].spin.start_s, 20, 0.5);
}

TEST_F(TrackerTest, TalkOrADropOutInTheMiddleDoesNotMakeTwoPlays) {
  stream_.airings = {{7, 20, 180, 0, 1, {{80, 98}}}};
  play(240);
  EXPECT_EQ(of(What::started).size(), 1U);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 180, 0.5);
  EXPECT_EQ(events_.size(), 2U);
}

TEST_F(TrackerTest, ACrossfadeOverlaps) {
  stream_.airings = {{7, 0, 100, 10, 0.7}, {8, 94, 180, 0}};
  play(230);
  ASSERT_EQ(of(What::started).size(), 2U);
  ASSERT_EQ(of(What::ended).size(), 2U);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 100, 0.5);
  EXPECT_NEAR(of(What::ended)[1].spin.start_s, 94, 0.5);
}

TEST_F(TrackerTest, ADuplicateInTheCatalogueNeverTakesOver) {
  stream_.airings = {{7, 20, 150, 0}, {8, 20, 150, 0, 1.3}};
  play(36);
  ASSERT_EQ(of(What::started).size(), 1U);
  const auto first = of(What::started)[0].spin.track_id;
  play(220);
  EXPECT_EQ(of(What::started).size(), 1U);
  EXPECT_EQ(of(What::renamed).size(), 0U);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_EQ(of(What::ended)[0].spin.track_id, first);
}

TEST_F(TrackerTest, AnotherTrackWithTheSameLoopIsNotASecondPlay) {
  stream_.airings = {{7, 20, 150, 0}, {8, 80, 110, 40, 0.6}};
  play(220);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_EQ(of(What::started)[0].spin.track_id, 7);
}

TEST_F(TrackerTest, AJumpInsideTheSongIsTheSamePlay) {
  stream_.airings = {{7, 20, 80, 0}, {7, 80, 150, 100}};
  play(220);
  EXPECT_EQ(of(What::started).size(), 1U);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 150, 0.5);
}

TEST_F(TrackerTest, TheSameSongAgainFromItsBeginningIsASecondPlay) {
  stream_.airings = {{7, 0, 200, 0}, {7, 200, 400, 0}};
  play(450);
  EXPECT_EQ(of(What::started).size(), 2U);
  ASSERT_EQ(of(What::ended).size(), 2U);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 200, 1.0);
  EXPECT_NEAR(of(What::ended)[1].spin.start_s, 200, 1.0);
}

TEST_F(TrackerTest, ASongThatComesBackOnItsOwnClockIsCorrectedNotDoubled) {
  stream_.airings = {{7, 20, 190, 0, 1, {{60, 110}}}};
  play(240);
  EXPECT_EQ(of(What::started).size(), 1U);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 60, 0.5);
  EXPECT_EQ(of(What::resumed).size(), 1U);
  ASSERT_EQ(of(What::corrected).size(), 1U);
  EXPECT_NEAR(of(What::corrected)[0].spin.end_s, 190, 0.5);
  EXPECT_EQ(of(What::corrected)[0].spin.spin_id, of(What::started)[0].spin.spin_id);
}

TEST_F(TrackerTest, AJumpAfterALongTalkIsTheSamePlay) {
  stream_.airings = {{7, 20, 60, 0}, {7, 100, 160, 120}};
  play(220);
  EXPECT_EQ(of(What::started).size(), 1U);
  ASSERT_EQ(of(What::corrected).size(), 1U);
  EXPECT_NEAR(of(What::corrected)[0].spin.end_s, 160, 0.5);
}

TEST_F(TrackerTest, SharedFirstSecondsAreRenamedWhenTheRestTellsTheTracksApart) {
  // Both sound alike until 40 s; only track 8 goes on.
  stream_.airings = {{7, 20, 40, 0, 1.2}, {8, 20, 150, 0}};
  play(220);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_EQ(of(What::started)[0].spin.track_id, 7);
  ASSERT_EQ(of(What::renamed).size(), 1U);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_EQ(of(What::ended)[0].spin.track_id, 8);
  EXPECT_NEAR(of(What::ended)[0].spin.start_s, 20, 0.5);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 150, 0.5);
}

TEST_F(TrackerTest, AReconnectionThatShiftsTheClockContinuesThePlay) {
  stream_.airings = {{7, 20, 80, 0}, {7, 90, 150, 74}};  // 10 s away, back 4 s further on
  play(80);
  now_ = 90;
  heard_from_ = 90;
  tracker_.resume_at(90);
  play(220);
  EXPECT_EQ(of(What::started).size(), 1U);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 150, 0.5);
}

TEST_F(TrackerTest, ALongLossEndsThePlayAndItsReturnCorrectsIt) {
  stream_.airings = {{7, 20, 80, 0}, {7, 130, 180, 113}};
  play(80);
  tracker_.end_all(stream_, events_);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 80, 0.5);
  now_ = 130;
  heard_from_ = 130;
  tracker_.resume_at(130);
  play(240);
  EXPECT_EQ(of(What::started).size(), 1U);
  ASSERT_EQ(of(What::corrected).size(), 1U);
  EXPECT_NEAR(of(What::corrected)[0].spin.end_s, 180, 0.5);
}

TEST_F(TrackerTest, APlayFromBeforeTheRestartGoesOnWithoutBeingStartedAgain) {
  const auto id = tracker_.expect({.track_id = 7,
                                   .start_s = -60,
                                   .last_seen_s = -8,
                                   .track_start_s = 0,
                                   .speed = 1,
                                   .confidence = 0.9999});
  stream_.airings = {{7, 0, 100, 63}};  // the new connection's clock is 3 s off
  play(160);
  EXPECT_TRUE(of(What::started).empty());
  ASSERT_EQ(of(What::resumed).size(), 1U);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_EQ(of(What::ended)[0].spin.spin_id, id);
  EXPECT_EQ(of(What::ended)[0].spin.start_s, -60);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 100, 0.5);
}

TEST_F(TrackerTest, APlayFromBeforeTheRestartThatIsNotHeardEndsWhereItWasLastHeard) {
  tracker_.expect({.track_id = 7, .start_s = -60, .last_seen_s = -8, .track_start_s = 0});
  stream_.airings = {{8, 10, 100, 0}};
  play(40);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_EQ(of(What::ended)[0].spin.track_id, 7);
  EXPECT_EQ(of(What::ended)[0].spin.end_s, -8);
  ASSERT_EQ(of(What::started).size(), 1U);
  EXPECT_EQ(of(What::started)[0].spin.track_id, 8);
}

TEST_F(TrackerTest, StoppingEndsWhatIsOnAirAtItsLastEvidence) {
  stream_.airings = {{7, 20, 190, 0}};
  play(71);
  tracker_.end_all(stream_, events_);
  ASSERT_EQ(of(What::ended).size(), 1U);
  EXPECT_NEAR(of(What::ended)[0].spin.end_s, 71, 0.5);
  EXPECT_TRUE(tracker_.on_air().empty());
}

TEST_F(TrackerTest, FollowingAsksTheIndexSeldom) {
  stream_.airings = {{7, 0, 190, 0}};
  play(20);
  const int before = stream_.searches;
  play(120);
  EXPECT_LE(stream_.searches - before, 26);
  EXPECT_GE(stream_.searches - before, 20) << "the next song would be found late";
}

TEST_F(TrackerTest, WithoutLeaveToSearchItOnlyFollows) {
  stream_.airings = {{7, 0, 190, 0}};
  play(20);
  const int before = stream_.searches;
  for (; now_ < 60; ++now_) tracker_.tick(stream_, 0, now_ + 1, false, events_);
  EXPECT_EQ(stream_.searches, before);
  EXPECT_EQ(tracker_.on_air().size(), 1U);
}

}  // namespace
}  // namespace spintag::daemon
