// tests/unit/db/plays_test.cpp - plays, segments and the outbox in a real PostgreSQL.
#include <gmock/gmock.h>

#include <set>
#include <stdexcept>
#include <thread>

#include "tests/unit/db/store_test.h"

namespace spintag::db {
namespace {

using namespace std::chrono;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TimePoint kNoon{sys_days{2026y / November / 20} + 12h + 123'457us};

Play made_up_play(const std::string& station, TimePoint started_at) {
  Play play;
  play.station = station;
  play.track_id = 7;
  play.started_at = started_at;
  play.detected_at = started_at + 4s + 1us;
  play.track_start_s = 0.1;
  play.confidence = 0.9999;
  play.score = 412.25;
  play.speed = 1.0000001;
  play.pitch = 0.98;
  play.stream_title = "Artist - Title";
  play.time_accuracy_s = 0.05;
  play.track_json = R"({"title": "T"})";
  return play;
}

OutboxEvent event(const std::string& id, bool is_log, const std::string& sink = "hook",
                  const std::string& station = "wjrh") {
  OutboxEvent made;
  made.event_id = id;
  made.station = station;
  made.sink = sink;
  made.type = is_log ? "track.ended" : "track.started";
  made.is_log = is_log;
  made.body = "{\"id\":\"" + id + "\"}";
  return made;
}

std::vector<std::string> ids(const std::vector<OutboxEvent>& events) {
  std::vector<std::string> found;
  for (const OutboxEvent& one : events) found.push_back(one.event_id);
  return found;
}

class Plays : public StoreTest {};

TEST_F(Plays, APlayComesBackToTheMicrosecond) {
  Play play = made_up_play("wjrh", kNoon);
  const auto id = store_.begin_play(play, {});
  EXPECT_EQ(play.play_id, id);
  const auto open = store_.open_plays("wjrh");
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].started_at, kNoon);
  EXPECT_FALSE(open[0].ended_at);
  play.ended_at = kNoon + 215s + 300'001us;
  play.started_at -= 1us;
  store_.update_play(play, {});
  EXPECT_THAT(store_.open_plays("wjrh"), IsEmpty());
  const Play found = store_.plays({}).at(0);
  EXPECT_EQ(found.play_id, id);
  EXPECT_EQ(found.station, "wjrh");
  EXPECT_EQ(found.track_id, 7);
  EXPECT_EQ(found.started_at, play.started_at);
  EXPECT_EQ(found.ended_at, play.ended_at);
  EXPECT_EQ(found.detected_at, play.detected_at);
  EXPECT_EQ(found.track_start_s, 0.1);
  EXPECT_EQ(found.confidence, 0.9999);
  EXPECT_EQ(found.score, 412.25);
  EXPECT_EQ(found.speed, 1.0000001);
  EXPECT_EQ(found.pitch, 0.98);
  EXPECT_EQ(found.method, "landmark");
  EXPECT_EQ(found.stream_title, "Artist - Title");
  EXPECT_EQ(found.time_accuracy_s, 0.05);
  EXPECT_EQ(found.track_json, play.track_json);
}

TEST_F(Plays, TheEventsAreMadeFromTheStoredPlay) {
  Play play = made_up_play("wjrh", kNoon);
  std::int64_t told = 0;
  store_.begin_play(play, [&](const Play& stored) {
    told = stored.play_id;
    return std::vector{event("a", false), event("b", true)};
  });
  EXPECT_EQ(told, play.play_id);
  EXPECT_EQ(count("outbox"), 2);
}

TEST_F(Plays, AnEventMakerThatThrowsLeavesNoPlay) {
  Play play = made_up_play("wjrh", kNoon);
  const auto throwing = [](const Play&) -> std::vector<OutboxEvent> {
    throw std::logic_error("no body");
  };
  EXPECT_THROW(store_.begin_play(play, throwing), std::logic_error);
  EXPECT_EQ(play.play_id, 0);
  EXPECT_EQ(count("plays"), 0);
  store_.begin_play(play, {});
  play.ended_at = kNoon + 1min;
  EXPECT_THROW(store_.update_play(play, throwing), std::logic_error);
  EXPECT_EQ(store_.open_plays("wjrh").size(), 1U) << "the update is undone";
}

TEST_F(Plays, APlayWrittenTwiceIsOnePlayWithItsEventsOnce) {
  Play play = made_up_play("wjrh", kNoon);
  const auto events = [](const Play&) { return std::vector{event("once", true)}; };
  const auto id = store_.begin_play(play, events);
  Play again = made_up_play("wjrh", kNoon);
  EXPECT_EQ(store_.begin_play(again, events), id);
  EXPECT_EQ(count("plays"), 1);
  EXPECT_EQ(count("outbox"), 1);
}

TEST_F(Plays, AnUpdateOfNoPlayIsRefused) {
  Play play = made_up_play("wjrh", kNoon);
  play.play_id = 4711;
  try {
    store_.update_play(play, {});
    ADD_FAILURE();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::refused);
    EXPECT_NE(std::string(error.what()).find("4711"), std::string::npos) << error.what();
  }
}

TEST_F(Plays, AStreamTitleOfAnyBytesIsTaken) {
  Play play = made_up_play("wjrh", kNoon);
  play.stream_title = std::string("caf\xe9\0", 5);
  store_.begin_play(play, {});
  EXPECT_EQ(store_.plays({}).at(0).stream_title, "caf\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_F(Plays, FiltersChooseByStationAndHalfOpenTime) {
  for (int minute = 0; minute < 10; ++minute) {
    for (const char* station : {"a", "b"}) {
      Play play = made_up_play(station, kNoon + minutes(minute));
      store_.begin_play(play, {});
    }
  }
  EXPECT_EQ(store_.plays({}).size(), 20U);
  PlayFilter filter;
  filter.station = "b";
  filter.from = kNoon + 2min;
  filter.to = kNoon + 5min;
  const auto some = store_.plays(filter);
  ASSERT_EQ(some.size(), 3U);
  EXPECT_EQ(some.front().started_at, kNoon + 2min);
  EXPECT_EQ(some.back().started_at, kNoon + 4min);
  EXPECT_EQ(some.front().station, "b");
  PlayFilter newest;
  newest.limit = 3;
  const auto last = store_.plays(newest);
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last.back().started_at, kNoon + 9min);
  EXPECT_LE(last[0].started_at, last[1].started_at);
}

TEST_F(Plays, AllPlaysAreVisitedInOrderAcrossPages) {
  direct_.query(
      "insert into plays select 's' || n % 3, n, 7, timestamptz '2026-01-01' + n / 3 * interval '1 "
      "second', null, now(), 0, 1, 1, 1, 1, 'landmark', '', 0, '{}' from generate_series(1, 1501) "
      "n");
  std::int64_t expected = 1;
  store_.for_each_play({}, [&](const Play& play) { EXPECT_EQ(play.play_id, expected++); });
  EXPECT_EQ(expected, 1502);
}

TEST_F(Plays, SegmentsComeBack) {
  Segment segment{0, "wjrh", "silence", kNoon, std::nullopt};
  const auto id = store_.put_segment(segment, {event("quiet", false)});
  EXPECT_EQ(segment.segment_id, id);
  EXPECT_EQ(count("outbox"), 1);
  segment.ended_at = kNoon + 1us;
  store_.update_segment(segment);
  Segment again{0, "wjrh", "silence", kNoon, segment.ended_at};
  EXPECT_EQ(store_.put_segment(again, {event("quiet", false)}), id) << "the same one, once";
  const auto found = store_.segments({});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, "silence");
  EXPECT_EQ(found[0].started_at, kNoon);
  EXPECT_EQ(found[0].ended_at, kNoon + 1us);
  EXPECT_EQ(count("outbox"), 1);
  segment.segment_id = 4711;
  EXPECT_THROW(store_.update_segment(segment), StoreError);
}

class Outbox : public StoreTest {
 protected:
  static TimePoint past() { return time_point_cast<microseconds>(system_clock::now()) - 1min; }
  static TimePoint future() { return time_point_cast<microseconds>(system_clock::now()) + 1h; }
};

TEST_F(Outbox, AnEventComesBackAsItWasPut) {
  OutboxEvent put = event("msg_1", true);
  put.body = "{\"title\":\"\u00e9 \\u0000\"}";
  put.created_at = kNoon;
  store_.put_events({put});
  const auto taken = store_.take_due_events(10, 60s);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_GT(taken[0].outbox_id, 0);
  EXPECT_EQ(taken[0].event_id, "msg_1");
  EXPECT_EQ(taken[0].station, "wjrh");
  EXPECT_EQ(taken[0].sink, "hook");
  EXPECT_EQ(taken[0].type, "track.ended");
  EXPECT_TRUE(taken[0].is_log);
  EXPECT_EQ(taken[0].body, put.body);
  EXPECT_EQ(taken[0].created_at, kNoon);
  EXPECT_EQ(taken[0].attempts, 0);
}

TEST_F(Outbox, AnEventWithoutAnIdGetsOne) {
  store_.put_events({event("", true), event("", true, "other")});
  const auto taken = store_.take_due_events(10, 60s);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_FALSE(taken[0].event_id.empty());
  EXPECT_NE(taken[0].event_id, taken[1].event_id);
}

TEST_F(Outbox, AnEventPutTwiceIsDeliveredOnce) {
  store_.put_events({event("a", true)});
  store_.put_events({event("a", true), event("a", true, "other sink")});
  EXPECT_EQ(count("outbox"), 2);
}

TEST_F(Outbox, OfStateEventsTheNewestWinsForEachStationAndSink) {
  store_.put_events({event("old", false), event("other sink", false, "rds"),
                     event("other station", false, "hook", "kexp"), event("new", false)});
  EXPECT_THAT(ids(store_.take_due_events(10, 60s)),
              ElementsAre("other sink", "other station", "new"));
  EXPECT_EQ(store_.outbox_counts().dropped, 1);
  EXPECT_EQ(store_.outbox_counts().waiting, 3);
}

TEST_F(Outbox, ANewStateEventWaitsForTheOneOnItsWayAndThenReplacesIt) {
  store_.put_events({event("old", false)});
  const auto old = store_.take_due_events(10, 60s);
  ASSERT_EQ(old.size(), 1U);
  store_.put_events({event("new", false)});
  EXPECT_THAT(store_.take_due_events(10, 60s), IsEmpty());
  store_.mark_retry(old[0].outbox_id, past(), "503");
  EXPECT_THAT(ids(store_.take_due_events(10, 60s)), ElementsAre("new"));
  EXPECT_EQ(store_.outbox_counts().dropped, 1);
}

TEST_F(Outbox, LogEventsGoInOrderOneAtATimeAndNoneIsDropped) {
  store_.put_events({event("1", true), event("2", true), event("3", true),
                     event("elsewhere", true, "hook", "kexp")});
  auto taken = store_.take_due_events(10, 60s);
  EXPECT_THAT(ids(taken), ElementsAre("1", "elsewhere"));
  EXPECT_THAT(store_.take_due_events(10, 60s), IsEmpty()) << "1 is on its way";
  store_.mark_delivered(taken[0].outbox_id);
  taken = store_.take_due_events(10, 60s);
  EXPECT_THAT(ids(taken), ElementsAre("2"));
  store_.mark_retry(taken[0].outbox_id, future(), "503");
  EXPECT_THAT(store_.take_due_events(10, 60s), IsEmpty()) << "3 may not overtake 2";
  EXPECT_EQ(store_.outbox_counts().dropped, 0);
}

TEST_F(Outbox, StateAndLogEventsDoNotWaitForEachOther) {
  store_.put_events({event("log", true), event("state", false)});
  EXPECT_THAT(ids(store_.take_due_events(10, 60s)), ElementsAre("log", "state"));
}

TEST_F(Outbox, ARetryKeepsItsIdAndCountsItsAttempts) {
  store_.put_events({event("same", true)});
  const auto first = store_.take_due_events(10, 60s);
  store_.mark_retry(first.at(0).outbox_id, past(), "timed out");
  const auto second = store_.take_due_events(10, 60s);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].event_id, "same");
  EXPECT_EQ(second[0].attempts, 1);
}

TEST_F(Outbox, WhatACrashedWorkerTookComesBackWhenItsLeaseEnds) {
  store_.put_events({event("log", true), event("state", false)});
  EXPECT_EQ(store_.take_due_events(10, 3600s).size(), 2U);
  EXPECT_THAT(store_.take_due_events(10, 60s), IsEmpty());
  direct_.query("update outbox set leased_until = now() - interval '1 second'");
  EXPECT_THAT(ids(store_.take_due_events(10, 0s)), ElementsAre("log", "state"));
  EXPECT_EQ(store_.take_due_events(10, 0s).size(), 2U) << "a lease of 0 s has ended";
}

TEST_F(Outbox, TheLimitTakesTheOldestFirst) {
  for (const char* sink : {"a", "b", "c"}) store_.put_events({event(sink, true, sink)});
  EXPECT_THAT(ids(store_.take_due_events(2, 60s)), ElementsAre("a", "b"));
  EXPECT_THAT(ids(store_.take_due_events(2, 60s)), ElementsAre("c"));
}

TEST_F(Outbox, WorkersNeverTakeTheSameEvent) {
  constexpr int kEvents = 60;
  for (int i = 0; i < kEvents; ++i)
    store_.put_events({event("e", true, "sink" + std::to_string(i))});
  std::vector<std::int64_t> taken[2];
  const auto work = [&](std::size_t who) {
    Store store(url_);
    for (int round = 0; round < kEvents; ++round) {
      for (const OutboxEvent& one : store.take_due_events(3, 60s)) {
        taken[who].push_back(one.outbox_id);
        store.mark_delivered(one.outbox_id);
      }
    }
  };
  {
    std::jthread one(work, 0);
    std::jthread two(work, 1);
  }
  std::set<std::int64_t> all(taken[0].begin(), taken[0].end());
  all.insert(taken[1].begin(), taken[1].end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kEvents));
  EXPECT_EQ(taken[0].size() + taken[1].size(), static_cast<std::size_t>(kEvents));
  EXPECT_EQ(store_.outbox_counts().delivered, kEvents);
}

TEST_F(Outbox, TheDeadAreShownAndCanBeReplayedInOrder) {
  store_.put_events({event("1", true), event("2", true)});
  store_.mark_dead(store_.take_due_events(10, 60s).at(0).outbox_id, "410");
  const auto second = store_.take_due_events(10, 60s);
  EXPECT_THAT(ids(second), ElementsAre("2")) << "the dead hold nobody up";
  store_.mark_retry(second[0].outbox_id, past(), "503");
  EXPECT_THAT(ids(store_.dead_events(10)), ElementsAre("1"));
  EXPECT_EQ(store_.outbox_counts().dead, 1);
  EXPECT_EQ(store_.replay_dead(), 1);
  EXPECT_EQ(store_.replay_dead(), 0);
  const auto replayed = store_.take_due_events(10, 60s);
  EXPECT_THAT(ids(replayed), ElementsAre("1"));
  EXPECT_EQ(replayed[0].attempts, 0);
}

TEST_F(Outbox, WhatIsSettledStaysSettled) {
  store_.put_events({event("a", true)});
  const auto id = store_.take_due_events(1, 60s).at(0).outbox_id;
  store_.mark_dropped(id, "sink is gone");
  store_.mark_retry(id, past(), "late answer");
  store_.mark_delivered(id);
  const OutboxCounts counts = store_.outbox_counts();
  EXPECT_EQ(counts.dropped, 1);
  EXPECT_EQ(counts.waiting + counts.delivered + counts.dead, 0);
}

TEST_F(Outbox, SettledRowsGoAfterAMonthAndTheirCountStays) {
  store_.put_events({event("a", true), event("b", true, "x"), event("c", true, "y")});
  const auto taken = store_.take_due_events(10, 60s);
  store_.mark_delivered(taken.at(0).outbox_id);
  store_.mark_dropped(taken.at(1).outbox_id, "too old");
  store_.mark_dead(taken.at(2).outbox_id, "410");
  direct_.query("update outbox set done_at = now() - interval '31 days'");
  Store next_worker(url_);
  next_worker.take_due_events(1, 60s);
  EXPECT_EQ(count("outbox"), 1) << "dead letters wait for a person";
  const OutboxCounts counts = store_.outbox_counts();
  EXPECT_EQ(counts.delivered, 1);
  EXPECT_EQ(counts.dropped, 1);
  EXPECT_EQ(counts.dead, 1);
}

}  // namespace
}  // namespace spintag::db
