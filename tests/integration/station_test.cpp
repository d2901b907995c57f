// tests/integration/station_test.cpp - a station's thread on input that comes faster than real
// time.
#include "daemon/station.h"

#include <gtest/gtest.h>

#include <chrono>
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

TEST(Station, InputFasterThanRealTimeIsHeardWholeAndItsEndIsALostStream) {
  test::shared_server().make_database("station");
  const std::string url = test::shared_server().url("right", "station");
  const test::ScratchFolder folder("station");
  const std::string song = (folder.path() / "song.wav").string();
  test::write_song(song, 41, kSongSeconds);
  db::Store store(url);
  put_song(store, song);

  const std::vector<config::Station> settings{{"fast", "Fast", song}};
  StatusBoard board(settings);
  const LiveIndex index(store, {});
  MatchService matching(1);
  {
    PlayLog log(db::Store(url), folder.path(), {}, board, [] {});
    Station station(settings[0], {index, matching, log, board}, {});
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (board.snapshot().stations[0].stream != StreamState::lost &&
           std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(10ms);
    }
    const StationStatus status = board.snapshot().stations[0];
    EXPECT_EQ(status.stream, StreamState::lost) << "the end of a live stream is its loss";
    EXPECT_EQ(status.counters.dropped_windows, 0U);
    EXPECT_LT(std::chrono::steady_clock::now() - station.last_progress(), 20s);
  }
  const auto plays = store.plays({});
  ASSERT_EQ(plays.size(), 1U);
  ASSERT_TRUE(plays[0].ended_at.has_value());
  EXPECT_NEAR(std::chrono::duration<double>(*plays[0].ended_at - plays[0].started_at).count(),
              kSongSeconds, 2.0);
}

}  // namespace
}  // namespace spintag::daemon
