// tests/unit/daemon/events_test.cpp - bodies of events to the letter, and which sink gets which.
#include "daemon/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace spintag::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

db::TimePoint at(const char* text) { return from_rfc3339(text).value(); }

config::Sink sink(const std::string& name, std::vector<std::string> stations = {},
                  std::vector<std::string> events = {}) {
  config::Sink one;
  one.name = name;
  one.stations = std::move(stations);
  one.events = std::move(events);
  return one;
}

db::Play example_play() {
  db::Track track;
  track.track_id = 7;
  track.info.title = "Blue \"Train\"";
  track.info.artist = "Motörhead";
  track.info.album = "A";
  track.info.label = "L";
  track.info.isrcs = {"USAT29900609", "GBAYE0000001"};
  track.info.recording_mbid = "b1a9c0e9-d987-4042-ae91-78d6a3267d69";
  track.duration_s = 215.3;
  db::Play play;
  play.play_id = 9'007'199'254'740'993;  // one more than a double can hold: hence text
  play.station = "wjrh";
  play.track_id = 7;
  play.started_at = at("2026-03-01T12:00:00Z");
  play.detected_at = at("2026-03-01T12:00:05.250Z");
  play.confidence = 0.9999;
  play.track_json = track_json(track);
  return play;
}

const char* const kTrack =
    R"("track":{"track_id":7,"title":"Blue \"Train\"","artist":"Motörhead","album":"A",)"
    R"("isrc":["USAT29900609","GBAYE0000001"],"label":"L",)"
    R"("recording_mbid":"b1a9c0e9-d987-4042-ae91-78d6a3267d69","duration_s":215.3})";

TEST(Events, StartedIsWrittenToTheLetter) {
  const std::vector<config::Sink> sinks = {sink("site")};
  const auto events = make_track_started(example_play(), sinks, at("2026-03-01T12:00:05.5Z"));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(
      events[0].body,
      std::string(R"({"type":"track.started","timestamp":"2026-03-01T12:00:05.500Z","data":)") +
          R"({"station":"wjrh","play_id":"9007199254740993",)" + kTrack +
          R"(,"started_at":"2026-03-01T12:00:00.000Z","ended_at":null,)"
          R"("detected_at":"2026-03-01T12:00:05.250Z","played_s":null,"confidence":0.9999,)"
          R"("speed":1.0,"pitch":1.0,"method":"landmark"}})");
  EXPECT_FALSE(events[0].is_log);
  EXPECT_EQ(events[0].sink, "site");
  EXPECT_EQ(events[0].station, "wjrh");
  EXPECT_EQ(events[0].type, "track.started");
  EXPECT_EQ(events[0].created_at, at("2026-03-01T12:00:05.5Z"));
}

TEST(Events, EndedSaysHowLongItPlayedAndIsLog) {
  db::Play play = example_play();
  play.ended_at = at("2026-03-01T12:03:30.5Z");
  const std::vector<config::Sink> sinks = {sink("site")};
  const auto events = make_track_ended(play, sinks, at("2026-03-01T12:03:40Z"));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events[0].body, HasSubstr(R"("ended_at":"2026-03-01T12:03:30.500Z")"));
  EXPECT_THAT(events[0].body, HasSubstr(R"("played_s":210.5)"));
  EXPECT_TRUE(events[0].is_log);
  EXPECT_TRUE(make_track_corrected(play, sinks).at(0).is_log);
}

TEST(Events, SinksGetWhatTheyAskedFor) {
  const std::vector<config::Sink> sinks = {
      sink("all"), sink("other", {"kexp"}), sink("mine", {"kexp", "wjrh"}),
      sink("ends", {}, {"track.ended"}), sink("starts", {"wjrh"}, {"track.started"})};
  std::vector<std::string> names;
  std::set<std::string> ids;
  for (const auto& event : make_track_started(example_play(), sinks)) {
    names.push_back(event.sink);
    ids.insert(event.event_id);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("all", "mine", "starts"));
  EXPECT_THAT(ids, SizeIs(3)) << "a receiver that two sinks share must not take one for a repeat";
}

TEST(Events, BadBytesAndMissingFieldsDoNotStopAnEvent) {
  db::Play play = example_play();
  const std::vector<config::Sink> sinks = {sink("site")};
  for (const char* stored :
       {"", "not json", "[]", "{\"title\":7,\"isrc\":\"x\",\"duration_s\":null}"}) {
    play.track_json = stored;
    EXPECT_THAT(
        make_track_started(play, sinks).at(0).body,
        HasSubstr(R"("track":{"track_id":7,"title":"","artist":"","album":"","isrc":[],"label":"",)"
                  R"("recording_mbid":"","duration_s":null})"))
        << stored;
  }
  play.station = "b\xFF";
  EXPECT_THAT(make_track_started(play, sinks).at(0).body,
              HasSubstr("\"station\":\"b\xEF\xBF\xBD\""));
}

TEST(Events, StreamEventsAreState) {
  const std::vector<config::Sink> sinks = {sink("site")};
  const auto events = make_stream_event(kStreamLost, "wjrh", at("2026-03-01T12:00:00Z"), sinks,
                                        at("2026-03-01T12:00:04Z"));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].body,
            R"({"type":"stream.lost","timestamp":"2026-03-01T12:00:04.000Z",)"
            R"("data":{"station":"wjrh","started_at":"2026-03-01T12:00:00.000Z"}})");
  EXPECT_FALSE(events[0].is_log);
}

TEST(Events, AMelodyIsToldOfUnknownMusicAndNotAsAPlay) {
  const std::vector<config::Sink> sinks = {sink("site")};
  MelodyNews news;
  news.track_id = 7;
  news.track_json = R"({"title":"Reel","artist":"Band","album":"","isrc":[],"label":"",)"
                    R"("recording_mbid":"","duration_s":60})";
  news.confidence = 0.9731234567;
  news.speed = 1.09051;
  news.pitch = 1.25;
  news.detected_at = at("2026-03-01T12:00:26Z");
  const auto events = make_melody_event("wjrh", at("2026-03-01T12:00:00Z"), news, sinks,
                                        at("2026-03-01T12:00:26Z"));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].type, "segment.unknown");
  EXPECT_EQ(events[0].body,
            R"({"type":"segment.unknown","timestamp":"2026-03-01T12:00:26.000Z",)"
            R"("data":{"station":"wjrh","started_at":"2026-03-01T12:00:00.000Z","guess":{"track":)"
            R"({"track_id":7,"title":"Reel","artist":"Band","album":"","isrc":[],"label":"",)"
            R"("recording_mbid":"","duration_s":60},"detected_at":"2026-03-01T12:00:26.000Z",)"
            R"("confidence":0.973123,"speed":1.0905,"pitch":1.25,"method":"melody"}}})");
  EXPECT_FALSE(events[0].is_log);
}

}  // namespace
}  // namespace spintag::daemon
