// tests/integration/ingest_command_test.cpp - `spintag ingest`: JSON, skipped and refused files.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "tests/integration/commands_fixture.h"
#include "tests/integration/made_music.h"

namespace spintag::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class IngestCommand : public CataloguedSongs {};

TEST_F(IngestCommand, JsonIsTheContract) {
  const auto lines = first_ingest_.lines();
  ASSERT_EQ(lines.size(), kSongs + 1U);
  std::set<std::string> sources;
  std::set<std::int64_t> track_ids;
  for (int i = 0; i < kSongs; ++i) {
    const Json& line = lines[static_cast<std::size_t>(i)];
    EXPECT_EQ(names_of(line), "event,source,track_id,duration_s,landmarks,reason");
    EXPECT_EQ(line["event"], "ingested");
    EXPECT_EQ(line["duration_s"], kSongSeconds);
    EXPECT_GT(line["landmarks"].get<int>(), 100);
    sources.insert(line["source"].get<std::string>());
    track_ids.insert(line["track_id"].get<std::int64_t>());
  }
  EXPECT_EQ(track_ids.size(), kSongs);
  EXPECT_TRUE(sources.contains(song(0).string()))
      << "a folder's files are the folder as given, joined";
  const Json& summary = lines.back();
  EXPECT_EQ(names_of(summary), "event,ingested,skipped,failed,audio_s,elapsed_s");
  EXPECT_EQ(summary["event"], "summary");
  EXPECT_EQ(summary["ingested"], kSongs);
  EXPECT_EQ(summary["skipped"], 0);
  EXPECT_EQ(summary["failed"], 0);
  EXPECT_EQ(summary["audio_s"], kSongs * kSongSeconds);
  EXPECT_GT(summary["elapsed_s"].get<double>(), 0);
  EXPECT_EQ(first_ingest_.err, "") << "no progress bar on a pipe";
}

TEST_F(IngestCommand, SecondRunSkipsEveryFileAndKeepsItsId) {
  const Finished again = house_->run({"ingest", "--json", music()});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(events(again, "skipped").size(), kSongs);
  EXPECT_EQ(events(again, "summary").at(0)["ingested"], 0);
  std::map<std::string, Json> ids;
  for (const Json& line : events(first_ingest_, "ingested")) ids[line["source"]] = line["track_id"];
  for (const Json& line : events(again, "skipped"))
    EXPECT_EQ(line["track_id"], ids.at(line["source"]));
}

TEST_F(IngestCommand, RetaggedFileIsTheSameTrackAndReadOnlyOnce) {
  const fs::path file = fresh("tagged.mp3");
  const fs::path wav = fresh("song.wav");
  write_song(wav, 900, 12);
  shell("ffmpeg -v error -y -i " + in_quotes(wav) +
        " -metadata title=Before -metadata artist=Someone " + in_quotes(file));
  const Finished first = house_->run({"ingest", "--json", file});
  ASSERT_EQ(first.status, 0) << first.err;
  const Json track_id = events(first, "ingested").at(0)["track_id"];
  shell("cd " + in_quotes(file.parent_path()) +
        "; ffmpeg -v error -y -i tagged.mp3 -c copy -metadata title=After new.mp3; mv new.mp3 "
        "tagged.mp3");
  const Json retagged = events(house_->run({"ingest", "--json", file}), "skipped").at(0);
  EXPECT_EQ(retagged["track_id"], track_id);
  EXPECT_THAT(retagged["reason"].get<std::string>(), HasSubstr("its audio has not"));
  const Json third = events(house_->run({"ingest", "--json", file}), "skipped").at(0);
  EXPECT_EQ(third["reason"], "already in the catalogue") << "size and time were remembered";
  const Json shown =
      house_->run({"catalog", "show", "--json", std::to_string(track_id.get<int>())}).lines().at(0);
  EXPECT_EQ(shown["title"], "Before") << "what people corrected in the catalogue outlives tags";
  EXPECT_EQ(shown["artist"], "Someone");
}

TEST_F(IngestCommand, SameRecordingUnderAnotherNameIsSkippedAndNamed) {
  const fs::path copy = fresh("copy.wav");
  fs::copy_file(song(2), copy);
  const Json line = events(house_->run({"ingest", "--json", copy}), "skipped").at(0);
  EXPECT_EQ(line["reason"], "the same recording as " + song(2).string());
}

TEST_F(IngestCommand, TagsOfEachContainerReachTheCatalogue) {
  const fs::path wav = fresh("song.wav");
  int seed = 700;
  for (const std::string extension : {"mp3", "flac", "ogg", "m4a"}) {
    write_song(wav, static_cast<unsigned>(seed++), 8);
    const fs::path file = fresh("x." + extension);
    shell("ffmpeg -v error -y -i " + in_quotes(wav) +
          " -metadata title='Größe' -metadata artist=A -metadata album=L -metadata composer=C " +
          in_quotes(file));
    const Finished ingested = house_->run({"ingest", "--json", file});
    ASSERT_EQ(ingested.status, 0) << ingested.err;
    const std::string id = events(ingested, "ingested").at(0)["track_id"].dump();
    const Json shown = house_->run({"catalog", "show", "--json", id}).lines().at(0);
    EXPECT_EQ(shown["title"], "Größe") << extension;
    EXPECT_EQ(shown["artist"], "A") << extension;
    EXPECT_EQ(shown["album"], "L") << extension;
    EXPECT_EQ(shown["composer"], "C") << extension;
  }
}

TEST_F(IngestCommand, SidecarWinsOverTagsAlsoForKnownTracks) {
  const fs::path csv = fresh("new.csv");
  std::ofstream(csv) << "file,title,isrc,mood\nsong-1.wav,\"One, better\",USRC17607839,calm\n";
  const Finished run = house_->run({"ingest", "--json", "--metadata", csv, song(1)});
  EXPECT_EQ(run.status, 0) << run.err;
  const Json line = events(run, "skipped").at(0);
  EXPECT_THAT(line["reason"].get<std::string>(), HasSubstr("metadata"));
  const Json shown =
      house_->run({"catalog", "show", "--json", line["track_id"].dump()}).lines().at(0);
  EXPECT_EQ(shown["title"], "One, better");
  EXPECT_EQ(shown["isrc"], Json({"USRC17607839"}));
  EXPECT_EQ(shown["extra"]["mood"], "calm");

  std::ofstream(csv) << "file,title,isrc\nsong-1.wav,x,nonsense\n";
  const Finished wrong = house_->run({"ingest", "--metadata", csv, song(1)});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr(csv.string() + ":2: isrc"));
}

TEST_F(IngestCommand, PlaylistEntriesAreIngested) {
  const fs::path folder = fresh("x").parent_path();
  write_song(folder / "listed.wav", 950, 8);
  std::ofstream(folder / "list.m3u") << "#EXTM3U\nlisted.wav\ngone.wav\n";
  const Finished run = house_->run({"ingest", "--json", folder / "list.m3u"});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(events(run, "ingested").at(0)["source"], (folder / "listed.wav").string());
  EXPECT_THAT(run.err, HasSubstr((folder / "gone.wav").string()));
}

TEST_F(IngestCommand, NameThatIsNotUtf8IsTakenAndEscaped) {
  const fs::path file = fresh("caf\xE9.wav");
  write_song(file, 960, 8);
  const Finished run = house_->run({"ingest", "--json", file});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(events(run, "ingested").at(0)["source"].get<std::string>(),
              HasSubstr("caf\\xE9.wav"));
  EXPECT_EQ(events(house_->run({"ingest", "--json", file}), "skipped").at(0)["reason"],
            "already in the catalogue");
}

// Each bad file is named with its reason, and the good one in their midst is taken.
TEST_F(IngestCommand, BadFilesAreNamedAndTheRestIsTaken) {
  const fs::path folder = fresh("x").parent_path();
  const fs::path good = folder / "good.wav";
  write_song(good, 800, 10);
  std::ofstream(folder / "empty.mp3");
  std::ofstream(folder / "text.mp3") << std::string(5000, 'a') << "\nthis is no music\n";
  write_song(folder / "nothing.wav", 801, 0);
  write_song(folder / "blip.wav", 802, 0.4);
  write_silence(folder / "silence.wav", 20);
  fs::create_directory(folder / "no-audio");
  std::ofstream(folder / "no-audio" / "readme.txt") << "x";
  std::vector<std::string> command{"ingest", "--json"};
  const std::map<std::string, std::string> bad{{"empty.mp3", "the file is empty"},
                                               {"text.mp3", ""},
                                               {"nothing.wav", ""},
                                               {"blip.wav", "too short"},
                                               {"silence.wav", "nothing in it to recognise"},
                                               {"no-audio", "no audio files"},
                                               {"missing.flac", "does not exist"}};
  for (const auto& [name, reason] : bad) command.push_back(folder / name);
  command.push_back(good);
  const Finished run = house_->run(command);
  EXPECT_EQ(run.status, 1);
  std::map<std::string, Json> failed;
  for (const Json& line : events(run, "failed")) failed[line["source"]] = line;
  for (const auto& [name, reason] : bad) {
    const std::string source = (folder / name).string();
    ASSERT_TRUE(failed.contains(source)) << name << "\n" << run.out;
    EXPECT_THAT(failed[source]["reason"].get<std::string>(), HasSubstr(reason)) << name;
    EXPECT_NE(failed[source]["reason"], "") << name;
    EXPECT_TRUE(failed[source]["track_id"].is_null());
    EXPECT_THAT(run.err, HasSubstr(source + ": "));
  }
  EXPECT_EQ(failed.size(), bad.size());
  EXPECT_EQ(events(run, "ingested").at(0)["source"], good.string());
}

TEST_F(IngestCommand, TruncatedMp3IsTakenAsFarAsItGoes) {
  const fs::path wav = fresh("song.wav");
  write_song(wav, 810, 30);
  const fs::path mp3 = fresh("cut.mp3");
  shell("ffmpeg -v error -y -i " + in_quotes(wav) + " -b:a 128k " + in_quotes(mp3));
  fs::resize_file(mp3, fs::file_size(mp3) * 2 / 5 + 7);
  const Finished run = house_->run({"ingest", "--json", mp3});
  EXPECT_EQ(run.status, 0) << run.err;
  const Json line = events(run, "ingested").at(0);
  EXPECT_NEAR(line["duration_s"].get<double>(), 12.0, 0.5);
  EXPECT_THAT(line["reason"].get<std::string>(), HasSubstr("cut short"));
  EXPECT_THAT(run.err, HasSubstr(mp3.string() + ": cut short"));
}

// AddressSanitizer keeps freed memory aside and pads the rest.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMemoryIsTheProgramsOwn = false;
#else
constexpr bool kMemoryIsTheProgramsOwn = true;
#endif

TEST_F(IngestCommand, TwoHourFileNeedsLittleMemory) {
  const fs::path folder = fresh("x").parent_path();
  write_song(folder / "minute.wav", 820, 60);
  shell("cd " + in_quotes(folder) +
        "; ffmpeg -v error -y -i minute.wav -b:a 64k minute.mp3; for i in $(seq 120); do echo "
        "\"file minute.mp3\"; done >list;"
        " ffmpeg -v error -y -f concat -i list -c copy long.mp3");
  const Finished run = house_->run({"ingest", "--json", "--jobs", "1", folder / "long.mp3"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NEAR(events(run, "ingested").at(0)["duration_s"].get<double>(), 7200, 20);
  // Its samples alone, as floats at 11,025 Hz, would be 310 MiB.
  if (kMemoryIsTheProgramsOwn) {
    EXPECT_LT(run.peak_kib, 160 * 1024);
  }
  EXPECT_EQ(
      house_->run({"catalog", "remove", events(run, "ingested").at(0)["track_id"].dump()}).status,
      0);
}

TEST_F(IngestCommand, InterruptEndsWithASummaryAndNoHalfTrack) {
  const Household house("interrupt", Household::Database::on_shared_server);
  write_songs(house.path() / "music", 16, 40, 3000);
  const auto child = house.start({"ingest", "--json", "--jobs", "1", house.path() / "music"});
  ASSERT_GE(child->wait_for_lines(1), 1U);
  child->send(SIGINT);
  const Finished run = child->finish();
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
  const Json summary = events(run, "summary").at(0);
  EXPECT_LT(summary["ingested"].get<int>(), 16);
  EXPECT_EQ(summary["failed"], 0);
  EXPECT_EQ(house.catalogue().size(), summary["ingested"].get<std::size_t>());
}

}  // namespace
}  // namespace spintag::test
