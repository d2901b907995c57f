// tests/unit/daemon/status_board_test.cpp - what is on air, and what was.
#include "daemon/status_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

using ::testing::ElementsAre;

const std::vector<config::Station> kStations = {{"one", "Radio One", "http://h/1"},
                                                {"two", "", "http://h/2"}};

db::Play play(std::int64_t id, const std::string& station = "one") {
  db::Play made;
  made.play_id = id;
  made.station = station;
  made.started_at = db::TimePoint(std::chrono::seconds(1000 + 200 * id));
  return made;
}

std::vector<std::int64_t> ids(const std::vector<db::Play>& plays) {
  std::vector<std::int64_t> list;
  for (const db::Play& one : plays) list.push_back(one.play_id);
  return list;
}

TEST(StatusBoard, StationsStandInTheOrderOfTheSettings) {
  const Status status = StatusBoard(kStations).snapshot();
  ASSERT_EQ(status.stations.size(), 2U);
  EXPECT_EQ(status.stations[0].title, "Radio One");
  EXPECT_EQ(status.stations[1].title, "two");
  EXPECT_EQ(status.stations[0].stream, StreamState::connecting);
  EXPECT_FALSE(status.index_loaded);
}

TEST(StatusBoard, NextPlayPushesTheOneBeforeIntoTheHistory) {
  StatusBoard board(kStations);
  board.play_on_air(play(1));
  board.play_on_air(play(2));
  StationStatus one = board.snapshot().stations[0];
  EXPECT_EQ(one.now_playing->play_id, 2);
  EXPECT_THAT(ids(one.history), ElementsAre(1));
  db::Play ended = play(1);  // a crossfade: the end of the first is known after the second began
  ended.ended_at = db::TimePoint(std::chrono::seconds(1500));
  board.play_ended(ended);
  one = board.snapshot().stations[0];
  EXPECT_EQ(one.now_playing->play_id, 2);
  EXPECT_THAT(ids(one.history), ElementsAre(1));
  EXPECT_EQ(one.history[0].ended_at, ended.ended_at);
  board.play_ended(play(2));
  one = board.snapshot().stations[0];
  EXPECT_FALSE(one.now_playing);
  EXPECT_THAT(ids(one.history), ElementsAre(2, 1));
}

TEST(StatusBoard, AMelodyIsForgottenWithItsSegment) {
  StatusBoard board(kStations);
  board.set_label("one", "music");
  MelodyNews melody;
  melody.track_id = 7;
  board.set_melody("one", melody);
  ASSERT_TRUE(board.snapshot().stations[0].melody);
  EXPECT_EQ(board.snapshot().stations[0].melody->track_id, 7);
  EXPECT_FALSE(board.snapshot().stations[1].melody);
  board.set_label("one", "");
  EXPECT_FALSE(board.snapshot().stations[0].melody);
}

TEST(StatusBoard, CorrectionReplacesWhatIsOnAir) {
  StatusBoard board(kStations);
  board.play_on_air(play(1));
  db::Play corrected = play(1);
  corrected.track_id = 99;
  board.play_on_air(corrected);
  const StationStatus one = board.snapshot().stations[0];
  EXPECT_EQ(one.now_playing->track_id, 99);
  EXPECT_TRUE(one.history.empty());
}

TEST(StatusBoard, HistoryKeepsTheNewest) {
  StatusBoard board(kStations);
  for (int id = 1; id <= 15; ++id) board.play_ended(play(id));
  EXPECT_THAT(ids(board.snapshot().stations[0].history),
              ElementsAre(15, 14, 13, 12, 11, 10, 9, 8, 7, 6));
}

TEST(StatusBoard, UnknownStationIsIgnored) {
  StatusBoard board(kStations);
  board.play_on_air(play(1, "none"));
  board.set_stream("none", StreamState::lost, "x");
  EXPECT_FALSE(board.snapshot().stations[0].now_playing);
}

TEST(StatusBoard, ProblemGoesWhenTheDatabaseIsBack) {
  StatusBoard board(kStations);
  board.set_database(false, "refused");
  EXPECT_EQ(board.snapshot().database_problem, "refused");
  board.set_database(true, "refused");
  EXPECT_TRUE(board.snapshot().database_up);
  EXPECT_EQ(board.snapshot().database_problem, "");
}

}  // namespace
}  // namespace spintag::daemon
