// tests/integration/play_log_test.cpp - plays and their events survive a database that goes away,
// and are written once.
#include "daemon/play_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "daemon/events.h"
#include "daemon/rfc3339.h"
#include "tests/integration/commands_fixture.h"

namespace spintag::daemon {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using What = LogEntry::What;

bool eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return condition();
}

class PlayLogTest : public ::testing::Test {
 protected:
  PlayLogTest() {
    static int number = 0;
    const std::string database = "play_log_" + std::to_string(number++);
    server_.make_database(database);
    url_ = server_.url("right", database);
    sink_.name = "receiver";
    sink_.url = "http://127.0.0.1:9/";
  }

  std::unique_ptr<PlayLog> open() {
    PlayLogParams params;
    params.retry = 100ms;
    params.heartbeat = 50ms;
    return std::make_unique<PlayLog>(
        db::Store(url_), folder_.path(), std::vector{sink_}, board_, [] {}, params);
  }

  static db::Play play(std::int64_t track_id, int started_s) {
    db::Play play;
    play.station = "wjrh";
    play.track_id = track_id;
    play.started_at = day() + std::chrono::seconds(started_s);
    play.detected_at = play.started_at + 6s;
    play.track_json = "{\"track_id\":" + std::to_string(track_id) + "}";
    return play;
  }
  static db::TimePoint day() { return db::TimePoint(std::chrono::hours(24 * 20'000)); }

  static LogEntry entry(What what, const db::Play& play) {
    LogEntry entry;
    entry.what = what;
    entry.at = utc_now();
    entry.play = play;
    return entry;
  }
  static db::Play ended(db::Play play, int after_s) {
    play.ended_at = play.started_at + std::chrono::seconds(after_s);
    return play;
  }
  std::vector<db::Play> stored() { return db::Store(url_).plays({}); }
  std::int64_t events() { return db::Store(url_).outbox_counts().waiting; }
  std::uint64_t spooled() const { return fs::file_size(folder_.path() / "plays.spool"); }

  test::PasswordServer& server_ = test::shared_server();
  std::string url_;
  test::ScratchFolder folder_{"play-log"};
  config::Sink sink_;
  std::vector<config::Station> stations_{{"wjrh", "WJRH", "http://127.0.0.1/x"}};
  StatusBoard board_{stations_};
};

TEST_F(PlayLogTest, APlayIsWrittenWithItsEventsAndShown) {
  auto log = open();
  log->put(entry(What::play_began, play(7, 0)));
  ASSERT_TRUE(eventually([&] { return stored().size() == 1; }));
  EXPECT_EQ(events(), 1);
  ASSERT_TRUE(eventually([&] { return board_.snapshot().stations[0].now_playing.has_value(); }));
  log->put(entry(What::play_ended, ended(play(7, 0), 180)));
  log.reset();  // works off its queue
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(stored()[0].ended_at, play(7, 180).started_at);
  EXPECT_EQ(events(), 2);
  EXPECT_FALSE(board_.snapshot().stations[0].now_playing.has_value());
  EXPECT_EQ(spooled(), 0U);
}

TEST_F(PlayLogTest, WhatHappensWhileTheDatabaseIsAwayIsWrittenOnceWhenItIsBack) {
  auto log = open();
  log->put(entry(What::play_began, play(7, 0)));
  ASSERT_TRUE(eventually([&] { return stored().size() == 1; }));
  server_.kill();
  log->put(entry(What::play_ended, ended(play(7, 0), 180)));
  log->put(entry(What::play_began, play(8, 180)));
  ASSERT_TRUE(eventually([&] {
    const Status status = board_.snapshot();
    return status.stations[0].now_playing && status.stations[0].now_playing->track_id == 8;
  })) << "people see what is on air without the database";
  EXPECT_FALSE(board_.snapshot().database_up);
  EXPECT_GT(spooled(), 0U);
  server_.start();
  ASSERT_TRUE(eventually([&] { return spooled() == 0; }));
  log->put(entry(What::play_ended, ended(play(8, 180), 200)));
  log.reset();
  const auto plays = stored();
  ASSERT_EQ(plays.size(), 2U);
  EXPECT_EQ(plays[0].track_id, 7);
  EXPECT_EQ(plays[0].ended_at, play(0, 180).started_at);
  EXPECT_EQ(plays[1].ended_at, play(0, 380).started_at);
  EXPECT_EQ(events(), 4);
  EXPECT_TRUE(board_.snapshot().database_up);
}

TEST_F(PlayLogTest, ASpoolThatIsReplayedTwiceWritesNothingTwice) {
  {
    auto log = open();
    server_.kill();
    log->put(entry(What::play_began, play(7, 0)));
    log->put(entry(What::play_ended, ended(play(7, 0), 180)));
    LogEntry silence;
    silence.what = What::segment_began;
    silence.at = utc_now();
    silence.segment = {0, "wjrh", "silence", play(0, 180).started_at, std::nullopt};
    log->put(silence);
  }
  const fs::path spool = folder_.path() / "plays.spool";
  const fs::path kept = folder_.path() / "kept";
  fs::copy_file(spool, kept);
  server_.start();
  { auto log = open(); }
  EXPECT_EQ(spooled(), 0U);
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(events(), 3);
  // As after a crash between the last write to the database and the mark in the spool.
  fs::copy_file(kept, spool, fs::copy_options::overwrite_existing);
  { auto log = open(); }
  EXPECT_EQ(spooled(), 0U);
  EXPECT_EQ(stored().size(), 1U);
  EXPECT_EQ(events(), 3);
  EXPECT_EQ(db::Store(url_).segments({}).size(), 1U);
}

TEST_F(PlayLogTest, ARenamedPlayKeepsItsRow) {
  auto log = open();
  log->put(entry(What::play_began, play(7, 0)));
  LogEntry renamed = entry(What::play_renamed, play(8, 1));
  renamed.before_track_id = 7;
  renamed.before_started_at = play(7, 0).started_at;
  log->put(renamed);
  log->put(entry(What::play_ended, ended(play(8, 1), 100)));
  log.reset();
  const auto plays = stored();
  ASSERT_EQ(plays.size(), 1U);
  EXPECT_EQ(plays[0].track_id, 8);
  EXPECT_TRUE(plays[0].ended_at.has_value());
}

TEST_F(PlayLogTest, TheNextProcessKnowsUntilWhenAPlayWasHeard) {
  const db::Play on_air = play(7, 0);
  {
    auto log = open();
    log->put(entry(What::play_began, on_air));
    log->heard(on_air, on_air.started_at + 42s);
    ASSERT_TRUE(eventually([&] { return fs::exists(folder_.path() / "on-air.json"); }));
    std::this_thread::sleep_for(200ms);
  }
  auto log = open();
  EXPECT_EQ(log->last_heard(on_air), on_air.started_at + 42s);
  EXPECT_EQ(log->last_heard(play(8, 0)), std::nullopt);
  ASSERT_TRUE(log->last_alive().has_value());
  EXPECT_LT(utc_now() - *log->last_alive(), 60s);
}

}  // namespace
}  // namespace spintag::daemon
