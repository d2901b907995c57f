// tests/integration/daemon_test.cpp - `spintag run` as a station's engineer runs it: real streams,
// a real database, a real webhook receiver, crashes and all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "daemon/demo/loopback.h"
#include "daemon/rfc3339.h"
#include "daemon/signature.h"
#include "db/store.h"
#include "tests/integration/commands_fixture.h"
#include "tests/integration/made_music.h"
#include "tests/integration/test_radio.h"
#include "tests/integration/webhook_receiver.h"

namespace spintag::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using testing::http_answer;
using testing::ReceivedRequest;
using testing::WebhookReceiver;

constexpr const char* kSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr double kSongLength = 90;

template <class Condition>
bool eventually(Condition&& condition, std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::sleep_for(50ms);
  }
  return condition();
}

bool is_signed(const ReceivedRequest& request) {
  const auto header = [&](const char* name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? std::string() : found->second;
  };
  const std::vector<std::string> secrets{kSecret};
  const std::string stamp = header("webhook-timestamp");
  return !stamp.empty() &&
         header("webhook-signature") ==
             daemon::sign_webhook(secrets, header("webhook-id"), std::stoll(stamp), request.body);
}

double seconds_between(const std::string& earlier, db::TimePoint later) {
  return std::chrono::duration<double>(later - daemon::from_rfc3339(earlier).value()).count();
}

class DaemonTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    house_ = std::make_unique<Household>("daemon", Household::Database::on_shared_server);
    radio_ = std::make_unique<TestRadio>();
    for (const unsigned seed : {1U, 2U, 3U, 4U}) {
      write_song(song(seed), 700 + seed, kSongLength);
    }
    const Finished ingest = house_->run({"ingest", song(1), song(2)});
    ASSERT_EQ(ingest.status, 0) << ingest.err;
  }
  static void TearDownTestSuite() {
    radio_.reset();
    house_.reset();
  }

  static std::filesystem::path song(unsigned number) {
    return house_->path() / ("song" + std::to_string(number) + ".wav");
  }

  static std::string station(const std::string& name, const std::string& url) {
    return "[[station]]\nname = \"" + name + "\"\nurl = \"" + url + "\"\n";
  }

  std::unique_ptr<Child> run(const std::string& stations, const std::string& listen = {}) {
    const auto file = house_->path() / "spintag.toml";
    std::ofstream(file) << "[web]\nlisten = \"" << listen << "\"\n"
                        << stations << "[[sink]]\nname = \"receiver\"\nurl = \"" << receiver_.url()
                        << "\"\nsecrets = [\"" << kSecret << "\"]\n";
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return house_->start({"run", "--config", file.string()});
  }

  // Bodies of the events of a type for a station, in order of arrival, each webhook-id once.
  std::vector<json> events(const std::string& type, const std::string& station_name) const {
    std::vector<json> found;
    std::vector<std::string> ids;
    for (const ReceivedRequest& request : receiver_.requests()) {
      const auto body = json::parse(request.body);
      const std::string id = request.headers.at("webhook-id");
      if (body["type"] != type || body["data"]["station"] != station_name) continue;
      if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
      ids.push_back(id);
      found.push_back(body);
    }
    return found;
  }
  bool wait_for(const std::string& type, const std::string& station_name, std::size_t count,
                std::chrono::seconds patience) const {
    return eventually([&] { return events(type, station_name).size() >= count; }, patience);
  }

  static std::string source_of(const json& event) {
    const std::string id = event["data"]["track"]["track_id"].dump();
    const Finished shown = house_->run({"catalog", "show", "--json", id});
    return shown.status == 0 ? shown.lines().at(0)["source"].get<std::string>() : shown.err;
  }

  static std::vector<nlohmann::ordered_json> plays_of(const std::string& station_name) {
    return house_->run({"plays", "--station", station_name, "--format", "json"}).lines();
  }

  // SIGTERM, and how it ended.
  static Finished stop(Child& daemon) {
    const auto before = std::chrono::steady_clock::now();
    daemon.send(SIGTERM);
    Finished finished = daemon.finish();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 6s) << "a clean stop takes about 3 s";
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished;
  }

  static inline std::unique_ptr<Household> house_;
  static inline std::unique_ptr<TestRadio> radio_;
  WebhookReceiver receiver_{[](const ReceivedRequest&, std::size_t) { return http_answer(204); }};
};

TEST_F(DaemonTest, ASongOnAirBecomesASignedEventAndAClosedPlayWhileAnotherStationIsAway) {
  const auto source = radio_->play("good", song(1));
  const std::string away = "http://127.0.0.1:" + std::to_string(daemon::free_port()) + "/none";
  const auto daemon = run(station("good", radio_->url("good")) + station("away", away));
  ASSERT_TRUE(wait_for("track.started", "good", 1, 30s)) << stop(*daemon).err;
  const json started = events("track.started", "good")[0];
  EXPECT_EQ(source_of(started), song(1).string());
  EXPECT_NEAR(seconds_between(started["data"]["started_at"], source->zero()), 0, 1.5);
  EXPECT_TRUE(started["data"]["ended_at"].is_null());
  EXPECT_GT(started["data"]["confidence"].get<double>(), 0.999);
  EXPECT_TRUE(wait_for("stream.lost", "away", 1, 15s));

  const Finished finished = stop(*daemon);
  const auto stopped_at = daemon::utc_now();
  ASSERT_EQ(events("track.ended", "good").size(), 1U) << finished.err;
  const json ended = events("track.ended", "good")[0];
  EXPECT_EQ(ended["data"]["play_id"], started["data"]["play_id"]);
  EXPECT_EQ(ended["data"]["started_at"], started["data"]["started_at"]);
  EXPECT_NEAR(seconds_between(ended["data"]["ended_at"], stopped_at), 4, 4);
  for (const ReceivedRequest& request : receiver_.requests()) EXPECT_TRUE(is_signed(request));

  const auto plays = plays_of("good");
  ASSERT_EQ(plays.size(), 1U);
  EXPECT_FALSE(plays[0]["ended_at"].is_null());
  EXPECT_THAT(finished.err, HasSubstr("[good] on air:"));
  EXPECT_THAT(finished.err, HasSubstr("[away] no stream"));
}

TEST_F(DaemonTest, ATrackThatIsIngestedWhileItRunsIsKnownWithinSeconds) {
  const auto daemon = run(station("late", radio_->url("late")));
  const auto source = radio_->play("late", song(3));
  std::this_thread::sleep_for(8s);
  EXPECT_TRUE(events("track.started", "late").empty());
  ASSERT_EQ(house_->run({"ingest", song(3)}).status, 0);
  EXPECT_TRUE(wait_for("track.started", "late", 1, 15s));
  const Finished finished = stop(*daemon);
  ASSERT_FALSE(events("track.started", "late").empty()) << finished.err;
  EXPECT_EQ(source_of(events("track.started", "late")[0]), song(3).string());
  EXPECT_NEAR(
      seconds_between(events("track.started", "late")[0]["data"]["started_at"], source->zero()), 0,
      2.5)
      << "the start is traced back to before the song was known";
}

TEST_F(DaemonTest, AKnownTuneThatABandPlaysLiveIsToldByItsMelodyAndAnUnknownOneIsNot) {
  constexpr double kTuneLength = 150;
  for (const unsigned tune : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const auto file = house_->path() / ("tune" + std::to_string(tune) + ".wav");
    write_performance(file, {.tune = tune, .band = 10 + tune}, kTuneLength);
    ASSERT_EQ(house_->run({"ingest", file}).status, 0);
  }
  const auto live = house_->path() / "live.wav";
  const auto unknown = house_->path() / "unknown.wav";
  // Further from the recording than its landmarks reach.
  write_performance(live, {.tune = 4, .band = 77, .key = 5, .tempo = 0.8}, kTuneLength);
  write_performance(unknown, {.tune = 99, .band = 78, .key = -2, .tempo = 1.1}, kTuneLength);

  const auto source = radio_->play("live", live);
  const auto other = radio_->play("unknown", unknown);
  const auto daemon =
      run(station("live", radio_->url("live")) + station("unknown", radio_->url("unknown")));
  const auto guesses = [&](const std::string& name) {
    std::vector<json> found;
    for (const json& event : events("segment.unknown", name)) {
      if (event["data"].contains("guess")) found.push_back(event);
    }
    return found;
  };
  EXPECT_TRUE(eventually([&] { return !guesses("live").empty(); }, 130s));
  EXPECT_TRUE(eventually(
      [&] { return std::chrono::duration<double>(daemon::utc_now() - other->zero()).count() > 50; },
      60s));
  const Finished finished = stop(*daemon);

  ASSERT_EQ(guesses("live").size(), 1U) << finished.err;
  const json data = guesses("live")[0]["data"];
  const json guess = data["guess"];
  EXPECT_EQ(source_of({{"data", guess}}), (house_->path() / "tune4.wav").string());
  EXPECT_EQ(guess["method"], "melody");
  EXPECT_GE(guess["confidence"].get<double>(), 0.9);
  EXPECT_LT(guess["confidence"].get<double>(), 0.999);
  EXPECT_NEAR(guess["speed"].get<double>(), 0.8, 0.03);
  EXPECT_NEAR(guess["pitch"].get<double>(), std::exp2(5 / 12.0), 1e-4);
  EXPECT_EQ(events("segment.unknown", "live")[0]["data"]["started_at"], data["started_at"])
      << "of the segment that was told before";
  EXPECT_FALSE(events("segment.unknown", "unknown").empty()) << finished.err;
  EXPECT_TRUE(guesses("unknown").empty()) << guesses("unknown")[0];
  for (const char* name : {"live", "unknown"}) {
    EXPECT_TRUE(events("track.started", name).empty()) << "a melody is never a play";
    EXPECT_TRUE(plays_of(name).empty());
  }
  EXPECT_THAT(finished.err, HasSubstr("[live] unknown music plays the melody of"));
}

TEST_F(DaemonTest, ADropOutAndAKilledDaemonDoNotDoubleAPlay) {
  auto source = radio_->play("rough", song(2));
  const auto zero = source->zero();
  const std::string settings = station("rough", radio_->url("rough"));
  auto daemon = run(settings);
  ASSERT_TRUE(wait_for("track.started", "rough", 1, 30s)) << stop(*daemon).err;

  source.reset();  // the encoder falls over, and comes back with the song gone on
  std::this_thread::sleep_for(3s);
  const double away_s = std::chrono::duration<double>(daemon::utc_now() - zero).count();
  source = radio_->play("rough", song(2), away_s);
  std::this_thread::sleep_for(10s);
  daemon->send(SIGKILL);
  const Finished killed = daemon->finish();
  EXPECT_THAT(killed.err, HasSubstr("[rough] no stream"));

  daemon = run(settings);
  std::this_thread::sleep_for(10s);
  const Finished finished = stop(*daemon);
  EXPECT_THAT(finished.err, HasSubstr("[rough] still on air:"));
  EXPECT_EQ(events("track.started", "rough").size(), 1U) << killed.err << finished.err;
  ASSERT_EQ(events("track.ended", "rough").size(), 1U) << killed.err << finished.err;
  const auto plays = plays_of("rough");
  ASSERT_EQ(plays.size(), 1U);
  EXPECT_GT(plays[0]["played_s"].get<double>(), 25);
}

TEST_F(DaemonTest, ATakenPortEndsTheStartWithTheAddressAndStatusTwo) {
  const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  socklen_t length = sizeof address;
  ::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string listen = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const Finished finished = run(station("any", radio_->url("any")), listen)->finish();
  ::close(taken);
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr(listen.substr(listen.find(':') + 1)));
}

TEST_F(DaemonTest, NoStationIsAFaultOfTheConfigurationThatSaysHowToAddOne) {
  const Finished finished = run("")->finish();
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("[[station]]"));
}

TEST_F(DaemonTest, ADatabaseThatCannotBeReachedIsStatusThree) {
  const auto file = house_->path() / "unreachable.toml";
  std::ofstream(file) << "[web]\nlisten = \"\"\n" << station("any", radio_->url("any"));
  const std::string url =
      "postgresql://nobody:wrong@127.0.0.1:" + std::to_string(daemon::free_port()) + "/none";
  const Finished finished = house_->run({"run", "--config", file.string(), "--database", url});
  EXPECT_EQ(finished.status, 3) << finished.err;
  EXPECT_THAT(finished.err, ::testing::Not(HasSubstr("wrong@")));
}

TEST_F(DaemonTest, ItTellsSystemdWhenItIsReadyAliveAndStopping) {
  const int supervisor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (house_->path() / "notify").string();
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(supervisor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  std::string heard;
  const auto hears = [&](const std::string& line) {
    char message[256];
    for (ssize_t size; (size = ::recv(supervisor, message, sizeof message, 0)) > 0;) {
      heard += std::string(message, static_cast<std::size_t>(size)) + "\n";
    }
    return heard.find(line) != std::string::npos;
  };
  const auto file = house_->path() / "notify.toml";
  std::ofstream(file) << "[web]\nlisten = \"\"\n" << station("any", radio_->url("nothing-here"));
  Environment environment = house_->environment();
  environment["NOTIFY_SOCKET"] = path;
  environment["WATCHDOG_USEC"] = "4000000";
  Child daemon({SPINTAG_PROGRAM, "run", "--config", file.string()}, environment);
  EXPECT_TRUE(eventually([&] { return hears("READY=1"); }, 20s)) << heard;
  heard.clear();
  EXPECT_TRUE(eventually([&] { return hears("WATCHDOG=1"); }, 5s)) << heard;
  EXPECT_EQ(heard.find("STOPPING=1"), std::string::npos);
  stop(daemon);
  EXPECT_TRUE(hears("STOPPING=1")) << heard;
  ::close(supervisor);
}

TEST_F(DaemonTest, ASecondDaemonOnTheSameStateIsRefused) {
  const auto first = run(station("any", radio_->url("nothing-here")));
  ASSERT_TRUE(
      eventually([&] { return std::filesystem::exists(house_->state() / "run.lock"); }, 20s));
  std::this_thread::sleep_for(1s);
  const Finished second = run(station("any", radio_->url("nothing-here")))->finish();
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err, HasSubstr("another"));
  stop(*first);
}

}  // namespace
}  // namespace spintag::test
