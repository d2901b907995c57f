// tests/unit/daemon/play_text_test.cpp - daemon/play_text.h: plays as users' programs read them.
#include "daemon/play_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "daemon/csv.h"
#include "daemon/rfc3339.h"

namespace spintag::daemon {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::ordered_json;

db::Play ended_play() {
  db::Play play;
  play.play_id = 12;
  play.station = "wjrh";
  play.track_id = 7;
  play.started_at = from_rfc3339("2026-03-01T12:00:00.250Z").value();
  play.ended_at = from_rfc3339("2026-03-01T12:03:35.500Z");
  play.confidence = 0.99999999;
  play.speed = 1.02;
  play.stream_title = "A, \"B\"";
  play.track_json =
      R"({"track_id":7,"title":"T","artist":"A","album":"L","isrc":["USRC17607839","GBAYE0601477"],"label":"Sun"})";
  return play;
}

TEST(PlayText, CsvRowHasTheHeadersColumns) {
  std::istringstream in(std::string(kPlayCsvHeader) + "\r\n" + play_csv(ended_play()) + "\r\n");
  const auto records = read_csv(in);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_THAT(records[0].fields,
              ElementsAre("play_id", "station", "started_at", "ended_at", "played_s", "track_id",
                          "title", "artist", "album", "isrc", "label", "confidence", "speed",
                          "method", "stream_title"));
  EXPECT_THAT(records[1].fields,
              ElementsAre("12", "wjrh", "2026-03-01T12:00:00.250Z", "2026-03-01T12:03:35.500Z",
                          "215.25", "7", "T", "A", "L", "USRC17607839;GBAYE0601477", "Sun",
                          "0.99999999", "1.02", "landmark", "A, \"B\""));
}

TEST(PlayText, JsonHasTheSameNames) {
  const Json json = Json::parse(play_json_line(ended_play()));
  std::string names;
  for (const auto& [name, value] : json.items()) names += (names.empty() ? "" : ",") + name;
  EXPECT_EQ(names, kPlayCsvHeader);
  EXPECT_EQ(json["isrc"], Json({"USRC17607839", "GBAYE0601477"}));
  EXPECT_EQ(json["played_s"], 215.25);
}

TEST(PlayText, PlayOnAirHasNoEnd) {
  db::Play play = ended_play();
  play.ended_at.reset();
  const Json json = Json::parse(play_json_line(play));
  EXPECT_TRUE(json["ended_at"].is_null());
  EXPECT_TRUE(json["played_s"].is_null());
  EXPECT_THAT(play_csv(play), ::testing::HasSubstr("2026-03-01T12:00:00.250Z,,,7,"));
}

TEST(PlayText, TrackThatIsNoJsonLeavesItsColumnsEmpty) {
  db::Play play = ended_play();
  play.track_json = "null";
  EXPECT_EQ(Json::parse(play_json_line(play))["title"], "");
}

}  // namespace
}  // namespace spintag::daemon
