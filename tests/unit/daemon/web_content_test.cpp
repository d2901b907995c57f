// tests/unit/daemon/web_content_test.cpp - what the web server says: now-playing JSON, metrics and
// the page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "daemon/rfc3339.h"
#include "daemon/web/metrics.h"
#include "daemon/web/now_playing.h"
#include "daemon/web/page_assets.h"
#include "daemon/web/status_page.h"

namespace spintag::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* kStart = "2026-03-01T12:00:00.700Z";
constexpr std::int64_t kStartUnix = 1'772'366'400;  // date -u -d 2026-03-01T12:00:00Z +%s

db::TimePoint after_start(double seconds) {
  return from_rfc3339(kStart).value() +
         std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
}

db::Play play(std::int64_t id, const std::string& title) {
  db::Play made;
  made.play_id = id;
  made.station = "wjrh";
  made.track_id = 7;
  made.started_at = from_rfc3339(kStart).value();
  made.confidence = 0.9999;
  made.track_start_s = 10;
  made.track_json = Json{
      {"title", title},
      {"artist", "AC/DC"},
      {"album", "B"},
      {"isrc", {"AUAP07600012"}},
      {"duration_s",
       215.3}}.dump();
  return made;
}

Status example(const std::string& title = "T.N.T.") {
  StatusBoard board(
      std::vector<config::Station>{{"wjrh", "WJRH 104.9", "http://h/"}, {"kexp", "", "http://h/"}});
  board.set_stream("wjrh", StreamState::connected);
  board.set_stream("kexp", StreamState::lost, "connection refused");
  board.play_ended(play(1, "Before"));
  board.play_on_air(play(2, title));
  board.set_counters("wjrh", {.reconnects = 3,
                              .damaged_packets = 4,
                              .dropped_windows = 5,
                              .windows_searched = 6,
                              .tags = 2});
  board.set_index(71);
  board.set_device("cuda:0");
  board.set_database(true);
  board.set_outbox({.waiting = 8, .delivered = 9, .dropped = 10, .dead = 11});
  board.delivered("site");
  board.delivery_failed("site");
  return board.snapshot();
}

TEST(NowPlaying, HasTheFieldsOfAzuraCast) {
  const Json all = Json::parse(now_playing_json(example(), after_start(100.5)));
  ASSERT_EQ(all.size(), 2U);
  const Json& one = all[0];
  EXPECT_EQ(one["station"], (Json{{"id", 1}, {"name", "WJRH 104.9"}, {"shortcode", "wjrh"}}));
  EXPECT_EQ(one["is_online"], true);
  EXPECT_EQ(one["now_playing"], (Json{{"sh_id", 2},
                                      {"played_at", kStartUnix},
                                      {"duration", 215},
                                      {"elapsed", 100},
                                      {"remaining", 105},
                                      {"song",
                                       {{"id", "7"},
                                        {"text", "AC/DC - T.N.T."},
                                        {"artist", "AC/DC"},
                                        {"title", "T.N.T."},
                                        {"album", "B"},
                                        {"isrc", "AUAP07600012"}}}}));
  ASSERT_EQ(one["song_history"].size(), 1U);
  EXPECT_EQ(one["song_history"][0]["song"]["title"], "Before");
  EXPECT_EQ(all[1]["now_playing"], nullptr);
  EXPECT_EQ(all[1]["is_online"], false);
  EXPECT_EQ(all[1]["spintag"]["problem"], "connection refused");
}

TEST(NowPlaying, OneStationIsTheSameAsInTheList) {
  const Status status = example();
  const db::TimePoint now = after_start(5);
  EXPECT_EQ(Json::parse(now_playing_json(status, "kexp", now).value()),
            Json::parse(now_playing_json(status, now))[1]);
  EXPECT_FALSE(now_playing_json(status, "none", now));
}

TEST(NowPlaying, OvertimeAndClockBehindNeverGoNegative) {
  const Json late = Json::parse(now_playing_json(example(), after_start(1000)))[0]["now_playing"];
  EXPECT_EQ(late["remaining"], 0);
  const Json early = Json::parse(now_playing_json(example(), after_start(-3)))[0]["now_playing"];
  EXPECT_EQ(early["elapsed"], 0);
}

TEST(Metrics, EveryLineIsWellFormedAndTyped) {
  const std::string text = metrics_text(example());
  const std::regex comment(R"(# (HELP spintag_[a-z_]+ .+|TYPE spintag_[a-z_]+ (gauge|counter)))");
  const std::regex sample(R"rx((spintag_[a-z_]+)(\{(station|sink)="[^"]*"\})? [0-9.e+]+)rx");
  std::istringstream lines(text);
  std::string typed;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("# TYPE ")) typed = line.substr(7, line.find(' ', 7) - 7);
    if (line.starts_with('#')) {
      EXPECT_TRUE(std::regex_match(line, comment)) << line;
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_EQ(match[1], typed) << "each sample stands below its own type";
    }
  }
  EXPECT_TRUE(text.ends_with('\n'));
}

TEST(Metrics, ValuesAreThoseOfTheBoard) {
  const std::string text = metrics_text(example());
  for (const char* line :
       {"spintag_index_tracks 71\n", "spintag_database_up 1\n", "spintag_outbox_waiting_events 8\n",
        "spintag_outbox_dead_events 11\n", "spintag_device_failures_total 0\n",
        "spintag_stream_connected{station=\"wjrh\"} 1\n",
        "spintag_stream_connected{station=\"kexp\"} 0\n", "spintag_on_air{station=\"wjrh\"} 1\n",
        "spintag_stream_reconnects_total{station=\"wjrh\"} 3\n",
        "spintag_damaged_packets_total{station=\"wjrh\"} 4\n",
        "spintag_dropped_windows_total{station=\"wjrh\"} 5\n",
        "spintag_windows_searched_total{station=\"wjrh\"} 6\n",
        "spintag_tags_total{station=\"wjrh\"} 2\n", "spintag_deliveries_total{sink=\"site\"} 1\n",
        "spintag_delivery_failures_total{sink=\"site\"} 1\n",
        "spintag_sink_disabled{sink=\"site\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(StatusPage, ShowsWhatIsOnAirWithoutJavaScript) {
  std::string page = status_page(example(), after_start(75));
  page.erase(page.find("<script>"));
  for (const char* text :
       {"WJRH 104.9", "T.N.T.", "AC/DC · B", "1:15 of 3:35", "since 12:00 UTC", "Before",
        "71 tracks", "8 events waiting, 11 given up", "No stream", "connection refused"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST(StatusPage, DeviceThatFailedIsShownAndCounted) {
  StatusBoard board(std::vector<config::Station>{});
  board.set_device("cuda:0");
  EXPECT_THAT(status_page(board.snapshot(), after_start(1)),
              HasSubstr("<li id=\"device\" class=\"dot good\">cuda:0</li>"));
  board.device_failed();
  EXPECT_THAT(status_page(board.snapshot(), after_start(1)),
              HasSubstr("<li id=\"device\" class=\"dot bad\">cpu (cuda:0 failed)</li>"));
  EXPECT_THAT(metrics_text(board.snapshot()), HasSubstr("spintag_device_failures_total 1\n"));
}

TEST(StatusPage, TagsNeverBecomeMarkup) {
  const std::string page = status_page(example("<img src=x onerror=alert(1)>\"'&"), after_start(1));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(std::string(kPageScript), Not(HasSubstr("innerHTML")));
}

TEST(StatusPage, NamesNoOtherHost) {
  const std::string page = status_page(example(), after_start(1));
  EXPECT_THAT(page, Not(HasSubstr("://")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
}

}  // namespace
}  // namespace spintag::daemon
