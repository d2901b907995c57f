// tests/integration/station_test.cpp - a station's thread on input that comes faster than real
// time.
#include "daemon/station.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fingerprint/audio/reader.h"
#include "fingerprint/extractor.h"
#include "fingerprint/profile.h"
#include "fingerprint/reference.h"
#include "tests/integration/commands_fixture.h"
#include "tests/integration/made_music.h"

namespace spintag::daemon {
namespace {

using namespace std::chrono_literals;

constexpr double kSongSeconds = 60;

void put_song(db::Store& store, const std::string& wav) {
  fingerprint::AudioReader reader(wav, {});
  std::vector<float> samples;
  while (reader.read(samples)) {
  }
  fingerprint::PeakExtractor extractor;
  std::vector<fingerprint::Peak> peaks;
  extractor.push(samples, peaks);
  extractor.finish(peaks);
  const auto packed = fingerprint::make_reference(peaks);
  db::NewTrack track;
  track.source = wav;
  track.content_hash = "hash of " + wav;
  track.duration_s = kSongSeconds;
  track.landmarks = 1;
  track.profile = std::string(fingerprint::BroadcastProfile::name);
  track.profile_version = fingerprint::BroadcastProfile::version;
  track.packed = packed;
  store.put_track(track);
}

/// The same recording at another speed: its samples are said to come at another rate.
void write_faster(const std::string& from, const std::string& to, double speed) {
  std::ifstream in(from, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  constexpr std::size_t kRateAt = 24;  // in the header of a WAV file, followed by bytes a second
  std::uint32_t rates[2];
  std::memcpy(rates, bytes.data() + kRateAt, sizeof(rates));
  for (std::uint32_t& rate : rates) rate = static_cast<std::uint32_t>(std::lround(rate * speed));
  std::memcpy(bytes.data() + kRateAt, rates, sizeof(rates));
  std::ofstream(to, std::ios::binary) << bytes;
}

/// What a station that plays a file has written once the file is over.
std::vector<db::Play> plays_of(const std::string& url, db::Store& store, const std::string& file,
                               const test::ScratchFolder& folder, StationStatus& status) {
  const std::vector<config::Station> settings{{"fast", "Fast", file}};
  StatusBoard board(settings);
  const LiveIndex index(store, {});
  MatchService matching(1);
  {
    PlayLog log(db::Store(url), folder.path(), {}, board, [] {});
    Station station(settings[0], {index, matching, log, board}, {});
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (board.snapshot().stations[0].stream != StreamState::lost &&
           std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(10ms);
    }
    status = board.snapshot().stations[0];
    EXPECT_LT(std::chrono::steady_clock::now() - station.last_progress(), 20s);
  }
  return store.plays({});
}

double length_s(const db::Play& play) {
  return std::chrono::duration<double>(*play.ended_at - play.started_at).count();
}

TEST(Station, InputFasterThanRealTimeIsHeardWholeAndItsEndIsALostStream) {
  test::shared_server().make_database("station");
  const std::string url = test::shared_server().url("right", "station");
  const test::ScratchFolder folder("station");
  const std::string song = (folder.path() / "song.wav").string();
  test::write_song(song, 41, kSongSeconds);
  db::Store store(url);
  put_song(store, song);

  StationStatus status;
  const auto plays = plays_of(url, store, song, folder, status);
  EXPECT_EQ(status.stream, StreamState::lost) << "the end of a live stream is its loss";
  EXPECT_EQ(status.counters.dropped_windows, 0U);
  ASSERT_EQ(plays.size(), 1U);
  ASSERT_TRUE(plays[0].ended_at.has_value());
  EXPECT_NEAR(length_s(plays[0]), kSongSeconds, 2.0);
  EXPECT_NEAR(plays[0].speed, 1, 0.001);
}

TEST(Station, ASongThatRunsFastIsAPlayThatSaysSo) {
  test::shared_server().make_database("fast_station");
  const std::string url = test::shared_server().url("right", "fast_station");
  const test::ScratchFolder folder("fast_station");
  const std::string song = (folder.path() / "song.wav").string();
  const std::string fast = (folder.path() / "fast.wav").string();
  test::write_song(song, 43, kSongSeconds);
  write_faster(song, fast, 1.03);
  db::Store store(url);
  put_song(store, song);

  StationStatus status;
  const auto plays = plays_of(url, store, fast, folder, status);
  ASSERT_EQ(plays.size(), 1U);
  ASSERT_TRUE(plays[0].ended_at.has_value());
  EXPECT_NEAR(plays[0].speed, 1.03, 0.002);
  EXPECT_NEAR(plays[0].pitch, 1.03, 0.002);
  EXPECT_NEAR(length_s(plays[0]), kSongSeconds / 1.03, 2.0);
}

}  // namespace
}  // namespace spintag::daemon
