// tests/integration/identify_command_test.cpp - `spintag identify`: JSON, answers, failures.
#include <gmock/gmock.h>

#include <fstream>
#include <iomanip>
#include <sstream>

#include "tests/integration/commands_fixture.h"
#include "tests/integration/made_music.h"

namespace spintag::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class IdentifyCommand : public CataloguedSongs {};

TEST_F(IdentifyCommand, ExcerptIsFoundWhereItWasCut) {
  const fs::path clip = fresh("clip.wav");
  cut(song(3), 7.3, 10, clip);
  const Finished run = house_->run({"identify", "--json", clip});
  EXPECT_EQ(run.status, 0) << run.err;
  ASSERT_EQ(run.lines().size(), 1U);
  const Json line = run.lines()[0];
  EXPECT_EQ(names_of(line), "file,duration_s,elapsed_s,matches");
  EXPECT_EQ(line["file"], clip.string());
  EXPECT_NEAR(line["duration_s"].get<double>(), 10.0, 0.002);
  EXPECT_GT(line["elapsed_s"].get<double>(), 0);
  ASSERT_EQ(line["matches"].size(), 1U) << line;
  const Json match = line["matches"][0];
  EXPECT_EQ(names_of(match),
            "track_id,source,title,artist,start_s,end_s,track_start_s,speed,pitch,score,confidence,"
            "method");
  EXPECT_EQ(match["source"], song(3).string());
  EXPECT_EQ(match["title"], "song-3");
  EXPECT_NEAR(match["track_start_s"].get<double>() - match["start_s"].get<double>(), 7.3, 0.03);
  EXPECT_NEAR(match["speed"].get<double>(), 1.0, 0.005);
  EXPECT_NEAR(match["pitch"].get<double>(), 1.0, 0.005);
  EXPECT_GE(match["confidence"].get<double>(), 0.999);
  EXPECT_LE(match["confidence"].get<double>(), 1.0);
  EXPECT_EQ(match["method"], "landmark");
}

TEST_F(IdentifyCommand, UnknownSongHasNoMatch) {
  const fs::path other = fresh("other.wav");
  write_song(other, 5555, 10);
  const Finished run = house_->run({"identify", "--json", other});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.lines().at(0)["matches"], Json::array());
}

TEST_F(IdentifyCommand, SeveralSongsGiveACueSheetInOrder) {
  const fs::path mix = fresh("mix.wav");
  shell("sox " + in_quotes(song(0)) + " " + in_quotes(song(4)) + " " + in_quotes(mix));
  const Json matches = house_->run({"identify", "--json", mix}).lines().at(0)["matches"];
  ASSERT_EQ(matches.size(), 2U) << matches;
  EXPECT_EQ(matches[0]["source"], song(0).string());
  EXPECT_EQ(matches[1]["source"], song(4).string());
  EXPECT_NEAR(matches[0]["end_s"].get<double>(), kSongSeconds, 2.0);
  EXPECT_NEAR(matches[1]["start_s"].get<double>(), kSongSeconds, 2.0);

  const Finished table = house_->run({"identify", mix});
  EXPECT_THAT(table.out, HasSubstr("song-0"));
  EXPECT_THAT(table.out, HasSubstr("song-4"));
}

TEST_F(IdentifyCommand, StandardInputIsASource) {
  const Finished run = house_->run({"identify", "--json", "-"}, song(5));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.lines().at(0)["file"], "-");
  EXPECT_EQ(run.lines().at(0)["matches"].at(0)["source"], song(5).string());
}

TEST_F(IdentifyCommand, SecondsLimitWhatIsHeard) {
  const Json line = house_->run({"identify", "--json", "--seconds", "8", song(5)}).lines().at(0);
  EXPECT_NEAR(line["duration_s"].get<double>(), 8.0, 0.01);
  EXPECT_EQ(line["matches"].at(0)["source"], song(5).string());
}

TEST_F(IdentifyCommand, BadFileIsNamedAndTheOthersAnswered) {
  const fs::path text = fresh("text.mp3");
  std::ofstream(text) << "this is no music\n";
  const fs::path missing = fresh("missing.wav");
  const Finished run = house_->run({"identify", "--json", missing, text, song(1)});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr(missing.string()));
  EXPECT_THAT(run.err, HasSubstr(text.string()));
  const auto lines = run.lines();
  ASSERT_EQ(lines.size(), 3U) << "one object a file";
  EXPECT_EQ(names_of(lines[0]), "file,duration_s,elapsed_s,matches,error");
  EXPECT_EQ(lines[0]["matches"], Json::array());
  EXPECT_EQ(lines[2]["matches"].at(0)["source"], song(1).string());
}

// A second and a half of a song: enough for a good guess, not for certainty.
TEST_F(IdentifyCommand, ThresholdDecidesHowSureAnAnswerMustBe) {
  const fs::path clip = fresh("clip.wav");
  cut(song(1), 10, 1.5, clip);
  const auto matches = [&](double threshold) {
    std::ostringstream text;
    text << std::setprecision(17) << threshold;
    return house_->run({"identify", "--json", "--threshold", text.str(), clip})
        .lines()
        .at(0)["matches"];
  };
  const Json found = matches(0.001);
  ASSERT_EQ(found.size(), 1U);
  const double confidence = found[0]["confidence"].get<double>();
  ASSERT_LT(confidence, 1.0);
  EXPECT_EQ(matches(confidence).size(), 1U)
      << "the number that was printed is the number that was compared";
  EXPECT_EQ(matches(confidence + (1 - confidence) / 2).size(), 0U);
  EXPECT_EQ(house_->run({"identify", "--threshold", "1.5", clip}).status, 2);
}

TEST_F(IdentifyCommand, SnapshotAnswersWithoutADatabase) {
  const fs::path snapshot = fresh("all.snapshot");
  const fs::path clip = fresh("clip.wav");
  cut(song(2), 5, 10, clip);
  ASSERT_EQ(house_->run({"catalog", "export", "--index", snapshot}).status, 0);
  const Json by_store = house_->run({"identify", "--json", clip}).lines().at(0)["matches"];
  const Household nothing("no-database");
  const Finished run =
      nothing.run({"identify", "--json", "--database", "postgresql://nobody@127.0.0.1:1/none",
                   "--index", snapshot, clip});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.lines().at(0)["matches"], by_store);
  EXPECT_EQ(by_store.at(0)["source"], song(2).string());
  EXPECT_FALSE(fs::exists(nothing.state())) << "no database was made";

  fs::resize_file(snapshot, fs::file_size(snapshot) / 2);
  const Finished damaged = nothing.run({"identify", "--index", snapshot, clip});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_THAT(damaged.err, HasSubstr(snapshot.string()));
}

TEST_F(IdentifyCommand, DeviceThatIsNotThereIsStatusThree) {
  const Finished run = house_->run({"identify", "--device", "cuda:99", song(1)});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("cuda:99"));
  EXPECT_EQ(house_->run({"identify", "--device", "cpu", song(1)}).status, 0);
}

}  // namespace
}  // namespace spintag::test
