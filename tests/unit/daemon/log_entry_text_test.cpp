// tests/unit/daemon/log_entry_text_test.cpp - tests daemon/log_entry_text.h.
#include "daemon/log_entry_text.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace spintag::daemon {
namespace {

db::TimePoint at(std::int64_t micros) { return db::TimePoint(std::chrono::microseconds(micros)); }

LogEntry renamed_play() {
  LogEntry entry;
  entry.what = LogEntry::What::play_renamed;
  entry.at = at(1'700'000'000'123'456);
  entry.before_track_id = 5;
  entry.before_started_at = at(1'700'000'000'000'007);
  entry.play.station = "wjrh";
  entry.play.track_id = 7;
  entry.play.started_at = at(1'700'000'000'000'009);
  entry.play.detected_at = at(1'700'000'000'100'000);
  entry.play.track_start_s = 12.25;
  entry.play.confidence = 0.999999;
  entry.play.score = 51.5;
  entry.play.speed = 1.0125;
  entry.play.pitch = 0.99;
  entry.play.stream_title = "line\nbreak \"quoted\" \xC3\xA9";
  entry.play.time_accuracy_s = 0.25;
  entry.play.track_json = R"({"track_id":7,"title":"A \"B\""})";
  return entry;
}

TEST(LogEntryText, APlayComesBackToTheMicrosecond) {
  const LogEntry entry = renamed_play();
  const std::string text = to_text(entry);
  EXPECT_EQ(text.find('\n'), std::string::npos) << "the spool keeps one line a record";
  const LogEntry back = from_text(text);
  EXPECT_EQ(back.what, entry.what);
  EXPECT_EQ(back.at, entry.at);
  EXPECT_EQ(back.before_track_id, 5);
  EXPECT_EQ(back.before_started_at, entry.before_started_at);
  EXPECT_EQ(back.play.station, "wjrh");
  EXPECT_EQ(back.play.track_id, 7);
  EXPECT_EQ(back.play.started_at, entry.play.started_at);
  EXPECT_EQ(back.play.ended_at, std::nullopt);
  EXPECT_EQ(back.play.detected_at, entry.play.detected_at);
  EXPECT_EQ(back.play.track_start_s, 12.25);
  EXPECT_EQ(back.play.confidence, 0.999999);
  EXPECT_EQ(back.play.score, 51.5);
  EXPECT_EQ(back.play.speed, 1.0125);
  EXPECT_EQ(back.play.pitch, 0.99);
  EXPECT_EQ(back.play.method, "landmark");
  EXPECT_EQ(back.play.stream_title, entry.play.stream_title);
  EXPECT_EQ(back.play.time_accuracy_s, 0.25);
  EXPECT_EQ(back.play.track_json, entry.play.track_json);
}

TEST(LogEntryText, ASegmentComesBack) {
  LogEntry entry;
  entry.what = LogEntry::What::segment_ended;
  entry.at = at(30);
  entry.segment = {0, "wjrh", "silence", at(10), at(20)};
  const LogEntry back = from_text(to_text(entry));
  EXPECT_EQ(back.what, LogEntry::What::segment_ended);
  EXPECT_EQ(back.segment.station, "wjrh");
  EXPECT_EQ(back.segment.kind, "silence");
  EXPECT_EQ(back.segment.started_at, at(10));
  EXPECT_EQ(back.segment.ended_at, at(20));
}

TEST(LogEntryText, AMelodyOfASegmentComesBack) {
  LogEntry entry;
  entry.what = LogEntry::What::segment_guessed;
  entry.at = at(30);
  entry.segment = {0, "wjrh", "music", at(10), std::nullopt};
  entry.melody = {7, R"({"title":"a"})", 0.97, 1.1, 1.5, at(29)};
  const LogEntry back = from_text(to_text(entry));
  EXPECT_EQ(back.what, LogEntry::What::segment_guessed);
  EXPECT_EQ(back.segment.started_at, at(10));
  EXPECT_EQ(back.melody.track_id, 7);
  EXPECT_EQ(back.melody.track_json, entry.melody.track_json);
  EXPECT_EQ(back.melody.confidence, 0.97);
  EXPECT_EQ(back.melody.speed, 1.1);
  EXPECT_EQ(back.melody.pitch, 1.5);
  EXPECT_EQ(back.melody.detected_at, at(29));
}

TEST(LogEntryText, AStreamTitleThatIsNoUtf8StopsNothing) {
  LogEntry entry = renamed_play();
  entry.play.stream_title = "caf\xE9";
  EXPECT_EQ(from_text(to_text(entry)).play.stream_title, "caf\xEF\xBF\xBD");
}

TEST(LogEntryText, RefusesWhatItDidNotWrite) {
  EXPECT_THROW(from_text(""), std::invalid_argument);
  EXPECT_THROW(from_text("{}"), std::invalid_argument);
  EXPECT_THROW(from_text(R"({"what":99,"at":0,"play":{}})"), std::invalid_argument);
}

}  // namespace
}  // namespace spintag::daemon
