// tests/integration/catalog_command_test.cpp - `spintag catalog`, `plays`, `config`; usage errors.
#include <gmock/gmock.h>

#include <fstream>

#include "db/store.h"
#include "tests/integration/commands_fixture.h"
#include "tests/integration/made_music.h"

namespace spintag::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class CatalogCommand : public CataloguedSongs {
 protected:
  static std::string id_of(int number) {
    for (const Json& line : events(first_ingest_, "ingested")) {
      if (line["source"] == song(number).string()) return line["track_id"].dump();
    }
    return "0";
  }
};

TEST_F(CatalogCommand, ListShowsEveryTrackAndKeepsToItsLimit) {
  const auto all = house_->catalogue();
  EXPECT_GE(all.size(), 5U);
  EXPECT_EQ(names_of(all[0]),
            "track_id,source,title,artist,album,label,composer,isrc,recording_mbid,duration_s,"
            "landmarks,content_hash,"
            "ingested_at,extra");
  EXPECT_EQ(house_->run({"catalog", "list", "--json", "--limit", "2"}).lines().size(), 2U);
  EXPECT_THAT(house_->run({"catalog", "list"}).out, HasSubstr("song-1"));
}

TEST_F(CatalogCommand, EditedTitleIsWhatIdentifySays) {
  const Finished edited = house_->run({"catalog", "edit", id_of(1), "--title", "Better",
                                       "--artist=Someone", "--isrc", "us-rc1-76-07839"});
  EXPECT_EQ(edited.status, 0) << edited.err;
  const Json match = house_->run({"identify", "--json", song(1)}).lines().at(0)["matches"].at(0);
  EXPECT_EQ(match["title"], "Better");
  EXPECT_EQ(match["artist"], "Someone");
  const Json shown = house_->run({"catalog", "show", "--json", id_of(1)}).lines().at(0);
  EXPECT_EQ(shown["isrc"], Json({"USRC17607839"}));
  EXPECT_EQ(house_->run({"catalog", "edit", id_of(1), "--artist="}).status, 0);
  EXPECT_EQ(house_->run({"catalog", "show", "--json", id_of(1)}).lines().at(0)["artist"], "");
}

TEST_F(CatalogCommand, WrongValuesAreUsageAndUnknownTracksAreFailures) {
  EXPECT_EQ(house_->run({"catalog", "edit", id_of(1), "--isrc", "nonsense"}).status, 2);
  EXPECT_EQ(house_->run({"catalog", "edit", id_of(1), "--recording-mbid", "17"}).status, 2);
  EXPECT_EQ(house_->run({"catalog", "edit", id_of(1), "--extra", "[1]"}).status, 2);
  const Finished unknown = house_->run({"catalog", "edit", "999999", "--title", "x"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("999999"));
  EXPECT_EQ(house_->run({"catalog", "show", "999999"}).status, 1);
  EXPECT_EQ(house_->run({"catalog", "show", "seven"}).status, 2);
}

TEST_F(CatalogCommand, RemovedTrackIsNotRecognisedAnyMore) {
  const fs::path file = fresh("going.wav");
  write_song(file, 1200, 10);
  const std::string id =
      events(house_->run({"ingest", "--json", file}), "ingested").at(0)["track_id"].dump();
  EXPECT_EQ(house_->run({"identify", "--json", file}).lines().at(0)["matches"].size(), 1U);
  const Finished removed = house_->run({"catalog", "remove", "999999", id});
  EXPECT_EQ(removed.status, 1) << "one of them was not there";
  EXPECT_THAT(removed.err, HasSubstr("999999"));
  EXPECT_EQ(house_->run({"identify", "--json", file}).lines().at(0)["matches"].size(), 0U);
}

TEST_F(CatalogCommand, ExportIsImportedElsewhereAndAnswersThere) {
  const fs::path file = fresh("all.ndjson");
  const Finished exported = house_->run({"catalog", "export", "--json", file});
  ASSERT_EQ(exported.status, 0) << exported.err;
  const Finished to_stdout = house_->run({"catalog", "export", "--json", "-"});
  EXPECT_EQ(to_stdout.lines().size(), house_->catalogue().size());
  const Household elsewhere("elsewhere", Household::Database::on_shared_server);
  const Finished imported = elsewhere.run({"catalog", "import", file});
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(elsewhere.catalogue().size(), house_->catalogue().size());
  EXPECT_EQ(elsewhere.run({"identify", "--json", song(4)}).lines().at(0)["matches"].at(0)["source"],
            song(4).string());
  const Finished again = elsewhere.run({"catalog", "import", file});
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.out, HasSubstr("0 added"));

  std::ofstream(file, std::ios::app) << "{\"title\":\"no fingerprint\"}\nnot json\n";
  const std::size_t lines = house_->catalogue().size();
  const Finished faulty = elsewhere.run({"catalog", "import", file});
  EXPECT_EQ(faulty.status, 1);
  EXPECT_THAT(faulty.err, HasSubstr(file.string() + ":" + std::to_string(lines + 1) + ": "));
  EXPECT_THAT(faulty.err, HasSubstr(file.string() + ":" + std::to_string(lines + 2) + ": "));
}

TEST_F(CatalogCommand, PlaysAreListedAsCsvAndJsonWithinTheirTimes) {
  const Household house("plays", Household::Database::on_shared_server);
  {
    db::Store store(house.database_url());
    for (int hour = 0; hour < 3; ++hour) {
      db::Play play;
      play.station = hour == 2 ? "other" : "wjrh";
      play.track_id = 7;
      play.started_at =
          db::TimePoint(std::chrono::seconds(1'772'366'400 + 3600 * hour));  // 2026-03-01T12:00:00Z
      play.ended_at = play.started_at + std::chrono::milliseconds(215'250);
      play.detected_at = play.started_at;
      play.confidence = 0.9999;
      play.track_json = R"({"title":"T, \"x\"","artist":"A","isrc":["USRC17607839"]})";
      store.begin_play(play, [](const db::Play&) { return std::vector<db::OutboxEvent>{}; });
    }
  }
  const Finished csv = house.run({"plays", "--station", "wjrh", "--format", "csv"});
  EXPECT_EQ(csv.status, 0) << csv.err;
  EXPECT_THAT(
      csv.out,
      HasSubstr(
          "play_id,station,started_at,ended_at,played_s,track_id,title,artist,album,isrc,label,"
          "confidence,speed,method,stream_title\r\n"));
  EXPECT_THAT(
      csv.out,
      HasSubstr(
          ",wjrh,2026-03-01T12:00:00.000Z,2026-03-01T12:03:35.250Z,215.25,7,\"T, \"\"x\"\"\",A,,"
          "USRC17607839,,0.9999,1.0,landmark,\r\n"));
  EXPECT_THAT(csv.out, ::testing::Not(HasSubstr("other")));
  const auto in_time = house.run({"plays", "--from", "2026-03-01T12:30:00Z", "--to",
                                  "2026-03-01T13:30:00Z", "--format", "json"});
  ASSERT_EQ(in_time.lines().size(), 1U) << in_time.out;
  EXPECT_EQ(in_time.lines()[0]["started_at"], "2026-03-01T13:00:00.000Z");
  EXPECT_EQ(house.run({"plays", "--to", "2026-03-01", "--format", "json"}).lines().size(), 3U)
      << "that whole day";

  const Finished unknown = house.run({"plays", "--format", "xml"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("csv, json"));
  EXPECT_EQ(house.run({"plays", "--from", "yesterday"}).status, 2);
}

TEST_F(CatalogCommand, ConfigSaysWhatIsInForceAndNamesFaults) {
  const fs::path file = fresh("radio.toml");
  std::ofstream(file) << "[recognition]\nthreshold = 0.99\n";
  const Finished printed = house_->run({"config", "print", "--config", file});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("recognition.threshold = 0.99"));
  EXPECT_THAT(printed.out, HasSubstr(file.string() + ":2"));
  EXPECT_EQ(house_->run({"config", "check", "--config", file}).status, 0);

  std::ofstream(file) << "[recognition]\n\ntreshold = 0.99\n";
  const Finished wrong = house_->run({"config", "check", "--config", file});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr(file.string() + ":3"));
  EXPECT_THAT(wrong.err, HasSubstr("threshold"));
  EXPECT_EQ(house_->run({"identify", "--config", file, song(1)}).status, 2);
  EXPECT_EQ(house_->run({"config", "check", "--config", "/nonexistent.toml"}).status, 2);
}

TEST_F(CatalogCommand, UsageErrorsAreStatusTwoAndHelpIsZero) {
  EXPECT_EQ(house_->run({}).status, 2);
  EXPECT_EQ(house_->run({"catalog"}).status, 2);
  EXPECT_EQ(house_->run({"ingest"}).status, 2);
  EXPECT_EQ(house_->run({"similar", "x.wav"}).status, 2);
  EXPECT_EQ(house_->run({"identify", "--no-such-option", "x.wav"}).status, 2);
  EXPECT_EQ(house_->run({"identify", "--log-level", "loud", song(1)}).status, 2);
  EXPECT_EQ(house_->run({"identify", "--device", "abacus", song(1)}).status, 2);
  const Finished version = house_->run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.out, HasSubstr("spintag "));
  const Finished help = house_->run({"identify", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("--index"));
}

}  // namespace
}  // namespace spintag::test
