// tests/integration/ingest_survival_test.cpp - `spintag ingest` through kill -9 and outages.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "tests/integration/commands_fixture.h"
#include "tests/integration/made_music.h"

namespace spintag::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

// Each song once, and each with a fingerprint that its own sound is recognised by.
void expect_whole(const Household& house, const std::vector<std::string>& database, int songs) {
  std::vector<std::string> list{"catalog", "export", "--json", "-"};
  list.insert(list.end(), database.begin(), database.end());
  const Finished exported = house.run(list);
  ASSERT_EQ(exported.status, 0) << exported.err;
  std::set<std::string> sources;
  for (const Json& line : exported.lines()) {
    EXPECT_TRUE(sources.insert(line["source"].get<std::string>()).second)
        << line["source"] << " is there twice";
    EXPECT_FALSE(line["packed"].get<std::string>().empty());
  }
  EXPECT_EQ(sources.size(), static_cast<std::size_t>(songs));
  std::vector<std::string> identify{"identify", "--json"};
  identify.insert(identify.end(), database.begin(), database.end());
  for (const std::string& source : sources) identify.push_back(source);
  for (const Json& line : house.run(identify).lines()) {
    ASSERT_EQ(line["matches"].size(), 1U) << line;
    EXPECT_EQ(line["matches"][0]["source"], line["file"]);
  }
}

TEST(IngestSurvival, TwoProcessesAtOnceStoreNothingTwice) {
  const Household house("pair");
  write_songs(house.path() / "music", 8, 20, 2000);
  const auto one = house.start({"ingest", "--json", house.path() / "music"});
  const auto two = house.start({"ingest", "--json", house.path() / "music"});
  const Finished first = one->finish();
  const Finished second = two->finish();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(events(first, "ingested").size() + events(second, "ingested").size(), 8U);
  expect_whole(house, {}, 8);
}

TEST(IngestSurvival, KilledIngestIsFinishedByTheNext) {
  const Household house("killed");
  write_songs(house.path() / "music", 10, 30, 2100);
  const auto child = house.start({"ingest", "--json", "--jobs", "2", house.path() / "music"});
  const std::size_t before = child->wait_for_lines(2);
  child->send(SIGKILL);
  const Finished killed = child->finish();
  ASSERT_EQ(killed.status, 128 + SIGKILL) << "it was over before it was killed";
  const Finished next = house.run({"ingest", "--json", house.path() / "music"});
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_GE(events(next, "skipped").size(), before);
  EXPECT_EQ(events(next, "skipped").size() + events(next, "ingested").size(), 10U);
  expect_whole(house, {}, 10);
}

TEST(IngestIntoServer, WrongPasswordIsStatusThreeAndIsNotShown) {
  const Household house("password");
  write_songs(house.path() / "music", 1, 5, 2200);
  const std::string wrong = shared_server().url("wrong-secret");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"ingest", house.path() / "music"},
        {"identify", house.path() / "music" / "song-0.wav"},
        {"catalog", "list"},
        {"plays"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--database", wrong});
    const Finished run = house.run(arguments);
    EXPECT_EQ(run.status, 3) << command[0] << run.err;
    EXPECT_THAT(run.err, HasSubstr("password")) << command[0];
    EXPECT_THAT(run.err, Not(HasSubstr("wrong-secret"))) << command[0];
  }
  EXPECT_EQ(house.run({"catalog", "list", "--database", "postgresql://x@127.0.0.1:1/none"}).status,
            3);
}

TEST(IngestIntoServer, UnreadableFileIsNamedAndTheRestIsTaken) {
  const Household house("unreadable", Household::Database::on_shared_server);
  const fs::path music = house.path() / "music";
  write_songs(music, 2, 8, 2300);
  ::chmod((music / "song-0.wav").c_str(), 0);
  std::vector<std::string> command{SPINTAG_PROGRAM,      "ingest", "--json", "--database",
                                   house.database_url(), music};
  if (::geteuid() == 0) {  // permission bits bind root only without these
    command.insert(command.begin(),
                   {"setpriv", "--bounding-set", "-dac_override,-dac_read_search"});
  }
  const Finished run = Child(command, house.environment()).finish();
  EXPECT_EQ(run.status, 1) << run.err;
  const Json failed = events(run, "failed").at(0);
  EXPECT_EQ(failed["source"], (music / "song-0.wav").string());
  EXPECT_EQ(failed["reason"], "Permission denied");
  EXPECT_EQ(events(run, "ingested").at(0)["source"], (music / "song-1.wav").string());
}

TEST(IngestServerDies, EndsWithStatusThreeAndGoesOnLater) {
  PasswordServer server;
  const Household house("server-dies");
  const fs::path music = house.path() / "music";
  write_songs(music, 12, 30, 2400);
  const std::vector<std::string> command{"ingest",     "--json",     "--jobs", "2",
                                         "--database", server.url(), music};
  const auto child = house.start(command);
  ASSERT_GE(child->wait_for_lines(2), 2U);
  server.kill();
  const Finished run = child->finish();
  EXPECT_EQ(run.status, 3) << run.err;
  EXPECT_NE(run.err, "");
  EXPECT_LT(events(run, "summary").at(0)["ingested"].get<int>(), 12);
  server.start();
  const Finished next = house.run(command);
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_EQ(events(next, "skipped").size() + events(next, "ingested").size(), 12U);
  EXPECT_GE(events(next, "skipped").size(), 2U);
  expect_whole(house, {"--database", server.url()}, 12);
}

TEST(IngestServerDies, ShortOutageIsWaitedFor) {
  PasswordServer server;
  const Household house("outage");
  const fs::path music = house.path() / "music";
  write_songs(music, 10, 30, 2500);
  const auto child =
      house.start({"ingest", "--json", "--jobs", "2", "--database", server.url(), music});
  ASSERT_GE(child->wait_for_lines(2), 2U);
  server.kill();
  server.start();
  const Finished run = child->finish();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(events(run, "summary").at(0)["failed"], 0);
  expect_whole(house, {"--database", server.url()}, 10);
}

}  // namespace
}  // namespace spintag::test
