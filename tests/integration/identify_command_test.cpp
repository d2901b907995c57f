// tests/integration/identify_command_test.cpp - `spintag identify`: JSON, answers, failures.
#include <gmock/gmock.h>

#include <csignal>
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

// Files are worked on side by side: a long one first, so that the others are done before it.
TEST_F(IdentifyCommand, ManyFilesAreAnsweredInTheirOrderAsOneByOne) {
  const fs::path mix = fresh("mix.wav");
  shell("sox " + in_quotes(song(0)) + " " + in_quotes(song(4)) + " " + in_quotes(song(2)) + " " +
        in_quotes(mix));
  const fs::path broken = fresh("broken.mp3");
  std::ofstream(broken) << "this is no music\n";
  std::vector<std::string> files{mix, song(5), broken, song(3)};
  for (int i = 0; i < 30; ++i) {
    const fs::path clip = fresh("clip-" + std::to_string(i) + ".wav");
    cut(song(i % kSongs), 2 + i / 2, 6, clip);
    files.push_back(clip);
  }
  std::vector<std::string> command{"identify", "--json"};
  command.insert(command.end(), files.begin(), files.end());
  const Finished together = house_->run(command);
  EXPECT_EQ(together.status, 1) << "one is broken";
  EXPECT_THAT(together.err, HasSubstr(broken.string()));
  const auto lines = together.lines();
  ASSERT_EQ(lines.size(), files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(lines[i]["file"], files[i]);
    EXPECT_EQ(lines[i].contains("error"), files[i] == broken.string());
    if (i >= 6) continue;
    Json alone = house_->run({"identify", "--json", files[i]}).lines().at(0);
    Json line = lines[i];
    alone.erase("elapsed_s");
    line.erase("elapsed_s");
    EXPECT_EQ(line, alone);
  }
  for (std::size_t i = 4; i < files.size(); ++i) {
    ASSERT_EQ(lines[i]["matches"].size(), 1U) << lines[i];
    EXPECT_EQ(lines[i]["matches"][0]["source"], song(static_cast<int>(i - 4) % kSongs).string());
  }
}

TEST_F(IdentifyCommand, StandardInputAmongFilesIsAnsweredInItsTurn) {
  const auto lines = house_->run({"identify", "--json", song(1), "-", song(2)}, song(5)).lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["file"], song(1).string());
  EXPECT_EQ(lines[1]["file"], "-");
  EXPECT_EQ(lines[1]["matches"].at(0)["source"], song(5).string());
  EXPECT_EQ(lines[2]["matches"].at(0)["source"], song(2).string());
}

TEST_F(IdentifyCommand, InterruptEndsManyFilesWithWhatWasHeard) {
  const fs::path mix = fresh("mix.wav");
  std::string songs;
  for (int i = 0; i < 40; ++i) songs += in_quotes(song(i % kSongs)) + " ";
  shell("sox " + songs + in_quotes(mix));
  std::vector<std::string> command{"identify", "--json", song(0)};
  for (int i = 0; i < 200; ++i) command.push_back(mix);
  const auto child = house_->start(command);
  ASSERT_GE(child->wait_for_lines(1), 1U);
  child->send(SIGINT);
  const Finished run = child->finish();
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
  EXPECT_LT(run.lines().size(), 100U);
  EXPECT_EQ(run.lines().at(0)["file"], song(0).string());
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
