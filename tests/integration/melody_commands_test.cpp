// tests/integration/melody_commands_test.cpp - tunes from MIDI and .notes files in the catalogue.
#include <gmock/gmock.h>

#include <fstream>

#include "db/connection.h"
#include "tests/integration/commands_fixture.h"
#include "tests/integration/made_music.h"
#include "tests/unit/fingerprint/midi_bytes.h"

namespace spintag::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class MelodyCommands : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& bytes) const {
    const fs::path file = house_.path() / "tunes" / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }
  std::vector<Json> ingest(const std::string& path) const {
    return house_.run({"ingest", "--json", path}).lines();
  }
  Json shown(const Json& track_id) const {
    return house_.run({"catalog", "show", "--json", track_id.dump()}).lines().at(0);
  }

  Household house_{"melodies", Household::Database::on_shared_server};
};

const char* const kThreeTunes =
    "# id\tevents\tphrases\n"
    "first\t60:1 62:1 r:2 64:1 65:2\t0,3\n"
    "\n"
    "second tune\t60:1 60:1 67:1 67:2\r\n"
    "third\t72:4 71:2 69:2\t0\n";

TEST_F(MelodyCommands, ANotesFileIsATrackALine) {
  const std::string file = put("three.notes", kThreeTunes);
  const auto lines = ingest(file);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(names_of(lines[0]), "event,source,track_id,duration_s,landmarks,reason");
  EXPECT_EQ(lines[0]["event"], "ingested");
  EXPECT_EQ(lines[0]["source"], file + "#first");
  EXPECT_EQ(lines[0]["duration_s"], 3.5);
  EXPECT_EQ(lines[0]["landmarks"], 0);
  EXPECT_EQ(lines[1]["source"], file + "#second tune");
  EXPECT_EQ(lines[2]["duration_s"], 4.0);
  EXPECT_EQ(lines[3]["ingested"], 3);
  EXPECT_EQ(lines[3]["audio_s"], 0.0) << "written music is no audio";
  const Json track = shown(lines[0]["track_id"]);
  EXPECT_EQ(track["title"], "first");
  EXPECT_EQ(track["melodies"].dump(),
            R"([{"method":"notes","melodies":1,"notes":4,"phrases":2,"length_s":3.5}])");
  const Finished text = house_.run({"catalog", "show", lines[0]["track_id"].dump()});
  EXPECT_THAT(text.out, HasSubstr("notes: 4 notes in 2 phrases, 3.5 s"));
}

TEST_F(MelodyCommands, TheSameFileAgainIsSkippedAndAChangedLineKeepsItsId) {
  const std::string file = put("three.notes", kThreeTunes);
  const auto first = ingest(file);
  const auto again = ingest(file);
  ASSERT_EQ(again.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again[i]["event"], "skipped");
    EXPECT_EQ(again[i]["track_id"], first[i]["track_id"]);
    EXPECT_EQ(again[i]["reason"], "already in the catalogue");
  }
  std::string changed = kThreeTunes;
  changed.replace(changed.find("72:4"), 4, "72:8");
  const auto third = ingest(put("three.notes", changed));
  EXPECT_EQ(third[3]["ingested"], 1);
  EXPECT_EQ(third[3]["skipped"], 2);
  EXPECT_EQ(third[2]["track_id"], first[2]["track_id"]);
  EXPECT_EQ(shown(first[2]["track_id"])["melodies"][0]["length_s"], 6.0);
  EXPECT_EQ(house_.catalogue().size(), 3U);

  const auto copy = ingest(put("copy.notes", kThreeTunes));
  EXPECT_EQ(copy[0]["reason"], "the same tune as " + file + "#first");
}

TEST_F(MelodyCommands, BadLinesAreNamedAndTheOthersAreTaken) {
  const std::string file = put("bad.notes",
                               "good\t60:1 62:1\n"
                               "no events\n"
                               "wrong\t60:1 200:1\n"
                               "good\t64:1\n"
                               "\xff\xfe\t\n"
                               "last\t60:1 64:1\n");
  const Finished run = house_.run({"ingest", "--json", file});
  EXPECT_EQ(run.status, 1);
  const auto lines = run.lines();
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0]["event"], "ingested");
  for (const std::size_t bad : {1, 2, 3, 4}) {
    EXPECT_EQ(lines[bad]["event"], "failed");
    EXPECT_EQ(lines[bad]["source"], file + ":" + std::to_string(bad + 1));
    EXPECT_EQ(lines[bad]["track_id"], nullptr);
  }
  EXPECT_EQ(lines[5]["event"], "ingested");
  EXPECT_EQ(lines[6]["failed"], 4);
  EXPECT_THAT(run.err, HasSubstr(file + ":3: \"200\" is not a MIDI note"));
  EXPECT_THAT(run.err, HasSubstr(file + ":4: the id good is that of line 1"));
  EXPECT_EQ(house_.catalogue().size(), 2U);

  const Finished empty = house_.run({"ingest", put("empty.notes", "# nothing\n")});
  EXPECT_EQ(empty.status, 1);
  EXPECT_THAT(empty.err, HasSubstr("no tune in it"));
}

TEST_F(MelodyCommands, WhatIsNoNotesFileIsRefusedOnceAndWhole) {
  const std::string prose = put("prose.notes", "# a list\n\nBuy milk\nBuy bread\nx\t60:1\n");
  const Finished run = house_.run({"ingest", "--json", prose});
  EXPECT_EQ(run.status, 1);
  ASSERT_EQ(run.lines().size(), 2U);
  EXPECT_EQ(run.lines()[0]["source"], prose);
  EXPECT_EQ(run.lines()[0]["reason"], "not a .notes file: line 3 has no tab");
  EXPECT_EQ(run.lines()[1]["failed"], 1);

  const std::string huge = put("huge.notes", kThreeTunes);
  fs::resize_file(huge, (64U << 20) + 1);
  const Finished too_large = house_.run({"ingest", "--json", huge});
  EXPECT_EQ(too_large.status, 1);
  EXPECT_EQ(too_large.lines().at(0)["reason"], "too large for a .notes file");
  EXPECT_EQ(house_.catalogue().size(), 0U);
}

TEST_F(MelodyCommands, AByteOrderMarkMakesNoOtherTune) {
  const std::string file = put("three.notes",
                               "\xEF\xBB\xBF"
                               "first\t60:1 62:1\n");
  EXPECT_EQ(ingest(file)[0]["source"], file + "#first");
  EXPECT_EQ(ingest(put("three.notes", "first\t60:1 62:1\n"))[0]["event"], "skipped");
}

TEST_F(MelodyCommands, MoreLinesThanOneBatchHoldsAreAllTaken) {
  std::string text;
  for (int i = 0; i < 601; ++i) {
    text += "tune" + std::to_string(i) + "\t" + std::to_string(40 + i % 60) + ":1 60:1 62:1\n";
  }
  const auto lines = ingest(put("many.notes", text));
  ASSERT_EQ(lines.size(), 602U);
  EXPECT_EQ(lines.back()["ingested"], 601);
  EXPECT_EQ(house_.catalogue().size(), 601U);
}

std::string reel(const std::string& name) {
  return midi::file(1, 480,
                    {midi::name(name) + midi::tempo(600'000),
                     midi::line({72, 74, 76, 77, 79, 77, 76, 74}, 480, 2),
                     midi::line({36, 36, 36, 36, 36, 36, 36, 36}, 480, 1),
                     midi::line({42, 42, 42, 42, 42, 42, 42, 42}, 480, 9)});
}

TEST_F(MelodyCommands, AMidiFileIsATrackWithItsTune) {
  const std::string file = put("a.MID", reel("Caf\xe9 reel"));
  const auto lines = ingest(file);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["event"], "ingested");
  EXPECT_EQ(lines[0]["source"], file);
  EXPECT_EQ(lines[0]["duration_s"], 4.8);
  EXPECT_EQ(lines[0]["landmarks"], 0);
  const Json track = shown(lines[0]["track_id"]);
  EXPECT_EQ(track["title"], "Caf\u00e9 reel");
  EXPECT_EQ(track["melodies"].dump(),
            R"([{"method":"midi","melodies":1,"notes":8,"phrases":1,"length_s":4.8}])");
  EXPECT_EQ(ingest(file)[0]["reason"], "already in the catalogue");
  put("a.MID", reel("Caf\xe9 reel"));  // touched
  EXPECT_EQ(ingest(file)[0]["reason"], "already in the catalogue");
  EXPECT_EQ(ingest(put("b.mid", reel("Caf\xe9 reel")))[0]["reason"], "the same tune as " + file);

  const Json unnamed = ingest(put("Polka.midi", reel("Track 1")))[0];
  EXPECT_EQ(shown(unnamed["track_id"])["title"], "Polka");
}

TEST_F(MelodyCommands, AMidiFileTakesItsTitleFromTheSidecar) {
  const std::string file = put("x.mid", reel("draft"));
  const std::string sidecar = put("titles.csv", "file,title,composer\nx.mid,The Reel,Trad.\n");
  house_.run({"ingest", "--metadata", sidecar, file});
  const Json track = house_.catalogue().at(0);
  EXPECT_EQ(track["title"], "The Reel");
  EXPECT_EQ(track["composer"], "Trad.");
  put("titles.csv", "file,title,composer\nx.mid,Another,Trad.\n");
  const auto again = house_.run({"ingest", "--json", "--metadata", sidecar, file}).lines();
  EXPECT_THAT(again[0]["reason"].get<std::string>(), HasSubstr("brought up to date"));
  EXPECT_EQ(house_.catalogue().at(0)["title"], "Another");
}

TEST_F(MelodyCommands, ADamagedMidiFileIsNamedWithItsByteAndTheOthersAreTaken) {
  put("folder/a.mid", reel("a"));
  const std::string bad = put("folder/b.mid", reel("b").substr(0, 60));
  put("folder/c.notes", "c\t60:1 62:1\n");
  put("folder/readme.txt", "no music");
  const Finished run = house_.run({"ingest", "--json", (house_.path() / "tunes/folder").string()});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.lines().back()["ingested"], 2);
  EXPECT_EQ(run.lines().back()["failed"], 1);
  EXPECT_THAT(run.err, HasSubstr("spintag: " + bad + ": byte "));
}

TEST_F(MelodyCommands, TunesAndRecordingsLiveSideBySide) {
  const fs::path song = house_.path() / "song.wav";
  write_song(song, 4711, 12);
  const auto tunes = ingest(put("three.notes", kThreeTunes));
  EXPECT_THAT(house_.run({"doctor"}).out,
              HasSubstr("nothing can be recognised yet but what is hummed"));
  ingest(song.string());
  EXPECT_THAT(house_.run({"doctor"}).out, Not(HasSubstr("nothing can be recognised yet")));
  const auto found = [&] {
    return house_.run({"identify", "--json", song}).lines().at(0)["matches"];
  };
  EXPECT_EQ(found().at(0)["source"], song.string());
  const fs::path index = house_.path() / "index.snapshot";
  EXPECT_THAT(house_.run({"catalog", "export", "--index", index}).err, HasSubstr("1 tracks"));
  EXPECT_EQ(house_.run({"doctor"}).status, 0);
  EXPECT_EQ(house_.run({"catalog", "remove", tunes[0]["track_id"].dump()}).status, 0);
  EXPECT_EQ(found().size(), 1U);
  EXPECT_EQ(ingest(put("three.notes", kThreeTunes)).back()["ingested"], 1)
      << "what was removed comes back";
}

TEST_F(MelodyCommands, ARecordingHasItsMelodyOrGetsItLater) {
  const std::string wav = (house_.path() / "tune.wav").string();
  write_performance(wav, {.tune = 5, .band = 2}, 40);
  const Json first = house_.run({"ingest", "--json", "--no-melodies", wav}).lines().at(0);
  EXPECT_EQ(first["event"], "ingested");
  EXPECT_TRUE(shown(first["track_id"])["melodies"].empty());

  const Json second = ingest(wav).at(0);
  EXPECT_EQ(second["event"], "ingested");
  EXPECT_EQ(second["track_id"], first["track_id"]);
  EXPECT_THAT(second["reason"].get<std::string>(), HasSubstr("melody"));
  const Json melodies = shown(first["track_id"])["melodies"];
  ASSERT_EQ(melodies.size(), 1U);
  EXPECT_EQ(melodies[0]["method"], "recording");
  EXPECT_GT(melodies[0]["notes"].get<int>(), 60) << "of some 130 that are played";
  EXPECT_NEAR(melodies[0]["length_s"].get<double>(), 40, 1);

  const Json third = ingest(wav).at(0);
  EXPECT_EQ(third["event"], "skipped");
  EXPECT_EQ(third["reason"], "already in the catalogue");
  fs::last_write_time(wav, fs::file_time_type::clock::now());
  EXPECT_EQ(ingest(wav).at(0)["event"], "skipped") << "its audio has not changed";
}

TEST_F(MelodyCommands, ARecordingWithoutMelodyIsNotDecodedAgain) {
  const std::string wav = (house_.path() / "noise.wav").string();
  shell("sox -q -n -r 22050 " + in_quotes(wav) + " synth 8 whitenoise vol 0.3");
  const Json first = ingest(wav).at(0);
  EXPECT_EQ(first["event"], "ingested") << first;
  const Json melodies = shown(first["track_id"])["melodies"];
  ASSERT_EQ(melodies.size(), 1U);
  EXPECT_EQ(melodies[0]["melodies"], 0);
  EXPECT_EQ(ingest(wav).at(0)["event"], "skipped");
}

TEST_F(MelodyCommands, ExportedTunesAreImportedElsewhere) {
  const auto tunes = ingest(put("three.notes", kThreeTunes));
  const fs::path file = house_.path() / "all.ndjson";
  house_.run({"catalog", "export", "--json", file});
  const Household elsewhere("elsewhere", Household::Database::on_shared_server);
  const Finished imported = elsewhere.run({"catalog", "import", file});
  EXPECT_EQ(imported.status, 0) << imported.err;
  const auto there = elsewhere.catalogue();
  ASSERT_EQ(there.size(), 3U);
  const Json track =
      elsewhere.run({"catalog", "show", "--json", there[0]["track_id"].dump()}).lines().at(0);
  EXPECT_EQ(track["melodies"], shown(tunes[0]["track_id"])["melodies"]);
  EXPECT_THAT(elsewhere.run({"catalog", "import", file}).out, HasSubstr("0 added"));

  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  Json spoilt = Json::parse(line);
  spoilt["content_hash"] = "other";
  spoilt["source"] = "other";
  spoilt["melodies"][0]["packed"] = "AAEC";
  std::ofstream(file) << spoilt.dump() << "\n";
  const Finished refused = elsewhere.run({"catalog", "import", file});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr(":1: its melody (notes) is damaged at byte"));
}

TEST_F(MelodyCommands, AnImportLeavesMelodiesOfAnotherVersionOut) {
  const fs::path song = house_.path() / "song.wav";
  write_song(song, 4711, 12);
  ingest(song.string());
  const fs::path file = house_.path() / "all.ndjson";
  house_.run({"catalog", "export", "--json", file});
  std::string text;
  std::getline(std::ifstream(file) >> std::ws, text);
  Json recording = Json::parse(text);
  const Json melody = {{"method", "midi"}, {"method_version", 99}, {"packed", "AAEC"}};
  recording["melodies"] = Json::array();
  recording["melodies"].push_back(melody);
  Json tune = recording;
  tune["content_hash"] = "tune";
  tune["source"] = "tune";
  for (const char* key : {"profile", "profile_version", "packed"}) tune.erase(key);
  std::ofstream(file) << recording.dump() << "\n" << tune.dump() << "\n";
  const Household elsewhere("elsewhere", Household::Database::on_shared_server);
  const Finished imported = elsewhere.run({"catalog", "import", file});
  EXPECT_EQ(imported.status, 1);
  EXPECT_THAT(imported.out, HasSubstr("1 added, 0 already there, 1 failed"));
  EXPECT_THAT(imported.err,
              HasSubstr(":1: its melody (midi) is of version 99, this spintag reads "));
  EXPECT_THAT(imported.err, HasSubstr(": left out"));
  EXPECT_THAT(imported.err, HasSubstr(":2: its melody (midi) is of version 99"));
  EXPECT_EQ(elsewhere.catalogue().size(), 1U);
}

TEST_F(MelodyCommands, AFingerprintWithoutItsTrackIsNotExported) {
  const fs::path song = house_.path() / "song.wav";
  write_song(song, 4711, 12);
  const Json id = ingest(song.string())[0]["track_id"];
  ingest(put("three.notes", kThreeTunes));
  db::Connection direct(house_.database_url());
  direct.query("delete from tracks where track_id = $1", {id.dump()});
  const fs::path file = house_.path() / "all.ndjson";
  const Finished exported = house_.run({"catalog", "export", "--json", file});
  EXPECT_EQ(exported.status, 0) << exported.err;
  std::ifstream in(file);
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  EXPECT_EQ(lines, 3U);
}

TEST_F(MelodyCommands, ADamagedMelodyIsToldOfWithItsTrack) {
  const auto tunes = ingest(put("three.notes", kThreeTunes));
  const std::string id = tunes[0]["track_id"].dump();
  db::Connection direct(house_.database_url());
  direct.query("update melodies set packed = '\\x0101' where track_id = $1", {id});
  EXPECT_THAT(shown(tunes[0]["track_id"])["melodies"][0]["error"].get<std::string>(),
              HasSubstr("track " + id + ": its melody (notes) is damaged"));
  EXPECT_EQ(ingest(put("three.notes", kThreeTunes)).back()["ingested"], 1);
  EXPECT_EQ(shown(tunes[0]["track_id"])["melodies"][0]["notes"], 4) << "mended by ingest";
}

TEST_F(MelodyCommands, AMelodyOfAnotherVersionIsToldOfAndMended) {
  const auto tunes = ingest(put("three.notes", kThreeTunes));
  const std::string id = tunes[0]["track_id"].dump();
  db::Connection direct(house_.database_url());
  direct.query("update melodies set method_version = 99 where track_id = $1", {id});
  EXPECT_THAT(house_.run({"catalog", "show", id}).out, HasSubstr("version 99"));
  EXPECT_EQ(ingest(put("three.notes", kThreeTunes)).back()["ingested"], 1);
  EXPECT_EQ(shown(tunes[0]["track_id"])["melodies"][0]["notes"], 4) << "mended by ingest";
}

TEST_F(MelodyCommands, AnUnchangedMidiFileMendsItsDamagedMelody) {
  const std::string file = put("a.mid", reel("reel"));
  const Json id = ingest(file)[0]["track_id"];
  db::Connection direct(house_.database_url());
  direct.query("update melodies set packed = '\\x0101' where track_id = $1", {id.dump()});
  const auto again = ingest(file);
  EXPECT_EQ(again[0]["event"], "ingested");
  EXPECT_EQ(again[0]["track_id"], id);
  EXPECT_EQ(shown(id)["melodies"][0]["notes"], 8);
  EXPECT_EQ(ingest(file)[0]["event"], "skipped");
}

}  // namespace
}  // namespace spintag::test
