// tests/integration/hum_command_test.cpp - `spintag hum`: answers, and what cannot be answered.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <random>
#include <sstream>

#include "db/connection.h"
#include "db/store.h"
#include "fingerprint/melody/notes_file.h"
#include "fingerprint/melody/packed_melody.h"
#include "tests/integration/commands_fixture.h"
#include "tests/integration/made_music.h"
#include "tests/unit/fingerprint/midi_bytes.h"

namespace spintag::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr int kTunes = 40;
constexpr int kHummed = 17;
constexpr int kRateHz = 16000;

/// A random walk on a major scale.
std::vector<std::pair<int, double>> tune(unsigned seed) {
  constexpr int kScale[] = {0, 2, 4, 5, 7, 9, 11};
  std::mt19937 random(seed);
  std::vector<std::pair<int, double>> notes;
  int step = 7;
  for (int i = 0; i < 60; ++i) {
    step = std::clamp(step + static_cast<int>(random() % 7) - 3, 0, 13);
    notes.emplace_back(60 + 12 * (step / 7) + kScale[step % 7], random() % 3 == 0 ? 1 : 0.5);
  }
  return notes;
}

std::string notes_line(int number) {
  std::ostringstream line;
  line << "tune" << number << "\t";
  for (const auto& [pitch, quarters] : tune(static_cast<unsigned>(number))) {
    line << pitch << ":" << quarters << " ";
  }
  return line.str();
}

std::string all_lines() {
  std::string text;
  for (int number = 0; number < kTunes; ++number) text += notes_line(number) + "\n";
  return text;
}

/// Notes from the 10th on, 3.3 semitones higher and at 0.85 of the tempo, with three partials.
void write_hum(const fs::path& wav, int number, double seconds) {
  std::vector<std::int16_t> samples;
  double phase = 0;
  const auto notes = tune(static_cast<unsigned>(number));
  for (std::size_t i = 10; i < notes.size(); ++i) {
    const double hz = 440 * std::exp2((notes[i].first + 3.3 - 69) / 12);
    const auto count = static_cast<int>(notes[i].second * 0.5 / 0.85 * kRateHz);
    for (int sample = 0; sample < count; ++sample) {
      phase += 2 * std::numbers::pi * hz / kRateHz;
      const double sound = std::sin(phase) + 0.5 * std::sin(2 * phase) + 0.2 * std::sin(3 * phase);
      const double fade = std::min(1.0, std::min(sample, count - sample) / (0.02 * kRateHz));
      samples.push_back(static_cast<std::int16_t>(8000 * fade * sound));
    }
  }
  samples.resize(static_cast<std::size_t>(seconds * kRateHz));
  const fs::path raw = wav.string() + ".raw";
  std::ofstream(raw, std::ios::binary)
      .write(reinterpret_cast<const char*>(samples.data()),
             static_cast<std::streamsize>(samples.size() * sizeof samples[0]));
  shell("ffmpeg -v error -y -f s16le -ar " + std::to_string(kRateHz) + " -ac 1 -i " +
        in_quotes(raw) + " " + in_quotes(wav) + " </dev/null");
}

class HumCommand : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    house_ = std::make_unique<Household>("hum", Household::Database::on_shared_server);
    std::ofstream(notes_file()) << all_lines();
    const Finished ingested = house_->run({"ingest", notes_file()});
    ASSERT_EQ(ingested.status, 0) << ingested.err;
    write_hum(hum(), kHummed, 9);
  }
  static void TearDownTestSuite() { house_.reset(); }

  static std::string notes_file() { return (house_->path() / "tunes.notes").string(); }
  static fs::path hum() { return house_->path() / "hum.wav"; }
  static Json results(const Finished& run) { return run.lines().at(0)["results"]; }

  static inline std::unique_ptr<Household> house_;
};

TEST_F(HumCommand, JsonIsTheContractAndTheTuneIsFirst) {
  const Finished run = house_->run({"hum", "--json", "--top", "3", hum()});
  EXPECT_EQ(run.status, 0) << run.err;
  ASSERT_EQ(run.lines().size(), 1U);
  const Json line = run.lines()[0];
  EXPECT_EQ(names_of(line), "file,elapsed_s,results");
  EXPECT_EQ(line["file"], hum().string());
  EXPECT_GT(line["elapsed_s"].get<double>(), 0);
  ASSERT_EQ(line["results"].size(), 3U);
  const Json first = line["results"][0];
  EXPECT_EQ(names_of(first), "rank,track_id,source,title,distance");
  EXPECT_EQ(first["rank"], 1);
  EXPECT_EQ(first["title"], "tune" + std::to_string(kHummed));
  EXPECT_EQ(first["source"], notes_file() + "#tune" + std::to_string(kHummed));
  EXPECT_LT(first["distance"].get<double>(), line["results"][1]["distance"].get<double>());
  EXPECT_EQ(line["results"][2]["rank"], 3);
}

TEST_F(HumCommand, StandardInputIsHeardLikeAFile) {
  const Finished piped = house_->run({"hum", "--json", "-"}, hum());
  const Finished named = house_->run({"hum", "--json", hum()});
  EXPECT_EQ(results(piped), results(named));
  EXPECT_EQ(piped.lines().at(0)["file"], "-");
  EXPECT_EQ(results(named).size(), 10U) << "ten unless told otherwise";
}

TEST_F(HumCommand, OnAPipeRowsAreTabSeparated) {
  const Finished run = house_->run({"hum", "--top", "1", hum()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, ::testing::MatchesRegex("1\t[0-9]+\t[0-9.]+\ttune17\t.*#tune17\n"));
}

TEST_F(HumCommand, TooShortAndUnvoicedInputIsToldAsSuch) {
  const auto told = [&](const fs::path& file, const std::string& why) {
    const Finished run = house_->run({"hum", "--json", file});
    EXPECT_EQ(run.status, 1);
    const Json line = run.lines().at(0);
    EXPECT_EQ(names_of(line), "file,elapsed_s,results,error");
    EXPECT_EQ(line["results"].size(), 0U);
    EXPECT_THAT(line["error"].get<std::string>(), HasSubstr(why));
    EXPECT_THAT(run.err, HasSubstr("spintag: " + file.string() + ": "));
    EXPECT_THAT(run.err, HasSubstr(why));
  };
  write_hum(house_->path() / "short.wav", kHummed, 1);
  told(house_->path() / "short.wav", "too short");
  write_silence(house_->path() / "silence.wav", 5);
  told(house_->path() / "silence.wav", "nobody hums");
  // Two short notes with a pause between them are no hum, however long the pause.
  shell(
      "ffmpeg -v error -y -f lavfi -i "
      "\"aevalsrc=0.3*sin(880*PI*t)*(lt(t\\,0.2)+gt(t\\,4.8)):d=5:s=8000\" " +
      in_quotes(house_->path() / "beeps.wav"));
  told(house_->path() / "beeps.wav", "too short");
  told(house_->path() / "gone.wav", "cannot be opened");
}

TEST_F(HumCommand, WrongUsageIsStatusTwo) {
  EXPECT_EQ(house_->run({"hum"}).status, 2);
  EXPECT_EQ(house_->run({"hum", "--top", "0", hum()}).status, 2);
  EXPECT_EQ(house_->run({"hum", hum(), hum()}).status, 2);
}

TEST_F(HumCommand, ACatalogueWithoutMelodiesSaysHowToGetThem) {
  const Household empty("no-melodies", Household::Database::on_shared_server);
  const Finished run = empty.run({"hum", hum()});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("the catalogue has no melodies (spintag ingest"));
}

TEST_F(HumCommand, TunesOfMidiFilesAreFoundATrackOnceAndDamagedOnesAreToldOf) {
  const Household own("hum-midi", Household::Database::on_shared_server);
  const fs::path folder = own.path() / "tunes";
  fs::create_directories(folder);
  std::ofstream(folder / "others.notes") << notes_line(1) << "\n" << notes_line(2) << "\n";
  std::string events;
  for (const auto& [pitch, quarters] : tune(kHummed)) {
    events += midi::on(pitch) + midi::off(pitch, static_cast<std::uint32_t>(480 * quarters));
  }
  std::ofstream(folder / "wanted.mid", std::ios::binary) << midi::file(0, 480, {events});
  const auto ingested = own.run({"ingest", "--json", folder}).lines();
  ASSERT_EQ(ingested.back()["ingested"], 3);
  Json wanted;
  Json other;
  for (const Json& line : ingested) {
    if (line["event"] != "ingested") continue;
    (line["source"].get<std::string>().ends_with(".mid") ? wanted : other) = line["track_id"];
  }

  db::Store store(own.database_url());
  std::istringstream written(notes_line(kHummed));
  const auto melody = fingerprint::read_notes(written, "")[0].melody;
  const auto packed = fingerprint::pack_melodies({&melody, 1});
  store.put_melodies(wanted.get<std::int64_t>(), {fingerprint::kMelodyFromRecording,
                                                  fingerprint::kPackedMelodyVersion, packed});
  db::Connection(own.database_url())
      .query("update melodies set packed = '\\x0101' where track_id = $1",
             {other.get<std::int64_t>()});

  const Finished run = own.run({"hum", "--json", hum()});
  EXPECT_EQ(run.status, 0) << run.err;
  ASSERT_GE(results(run).size(), 1U);
  EXPECT_EQ(results(run)[0]["track_id"], wanted);
  EXPECT_EQ(results(run)[0]["title"], "wanted");
  for (std::size_t i = 1; i < results(run).size(); ++i) {
    EXPECT_NE(results(run)[i]["track_id"], wanted) << "two melodies, one track";
  }
  EXPECT_THAT(run.err, HasSubstr("track " + other.dump() + ": its melody (notes) is damaged"));
}

}  // namespace
}  // namespace spintag::test
