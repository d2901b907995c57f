// tests/integration/live_index_test.cpp - the index follows a real store, with and without its
// snapshot.
#include "daemon/live_index.h"

#include <signal.h>

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "daemon/index_follower.h"
#include "daemon/status_board.h"
#include "daemon/tune_book.h"
#include "db/connection.h"
#include "db/private_cluster.h"
#include "fingerprint/melody/packed_melody.h"
#include "fingerprint/profile.h"
#include "fingerprint/reference.h"
#include "tests/integration/commands_fixture.h"
#include "tests/unit/db/scratch_cluster.h"

namespace spintag::daemon {
namespace {

namespace fs = std::filesystem;

class LiveIndexTest : public ::testing::Test {
 protected:
  LiveIndexTest() : url_(make_database()), store_(url_) {}

  static std::string make_database() {
    static int number = 0;
    const std::string name = "live_index_" + std::to_string(number++);
    test::shared_server().make_database(name);
    return test::shared_server().url("right", name);
  }

  static fingerprint::PackedPeaks print_of(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> hz(300, 4500);
    std::vector<fingerprint::Peak> peaks;
    for (int i = 0; i < 400; ++i) peaks.push_back({0.1 * i, hz(random), 20});
    return fingerprint::make_reference(peaks);
  }

  static std::int64_t put(db::Store& store, unsigned seed) {
    const auto packed = print_of(seed);
    db::NewTrack track;
    track.info.title = "song " + std::to_string(seed);
    track.source = "/music/" + std::to_string(seed) + ".ogg";
    track.content_hash = "hash-" + std::to_string(seed);
    track.duration_s = 40;
    track.landmarks = 100;
    track.profile = std::string(fingerprint::BroadcastProfile::name);
    track.profile_version = fingerprint::BroadcastProfile::version;
    track.packed = packed;
    return store.put_track(track).track_id;
  }

  fs::path snapshot() const { return folder_.path() / "index.snapshot"; }

  test::ScratchFolder folder_{"live-index"};
  std::string url_;
  db::Store store_;
};

TEST_F(LiveIndexTest, HoldsWhatTheStoreHoldsAndFollowsEveryChange) {
  const auto first = put(store_, 1);
  LiveIndex index(store_, {});
  EXPECT_TRUE(index.current()->contains(first));
  EXPECT_EQ(index.refresh(store_), 0U);

  const auto before = index.current();
  const auto second = put(store_, 2);
  EXPECT_EQ(index.refresh(store_), 1U);
  EXPECT_TRUE(index.current()->contains(second));
  EXPECT_FALSE(before->contains(second)) << "who holds an index keeps it as it is";

  db::TrackInfo info;
  info.title = "another title";
  ASSERT_TRUE(store_.edit_track(first, info));
  index.refresh(store_);
  EXPECT_NE(index.current()->metadata(first).find("another title"), std::string_view::npos);

  ASSERT_TRUE(store_.remove_track(second));
  index.refresh(store_);
  EXPECT_FALSE(index.current()->contains(second));
  EXPECT_EQ(index.current()->track_count(), 1U);
}

TEST_F(LiveIndexTest, AddedAndRemovedBetweenTwoLooksIsNotThere) {
  put(store_, 1);
  LiveIndex index(store_, {});
  store_.remove_track(put(store_, 2));
  index.refresh(store_);
  EXPECT_EQ(index.current()->track_count(), 1U);
}

TEST_F(LiveIndexTest, TunesWithoutARecordingNeitherEnterItNorSpoilItsSnapshot) {
  const auto song = put(store_, 1);
  const std::vector<std::byte> packed(10);
  const std::vector<db::NewMelodies> melodies = {{"notes", 1, packed}};
  db::NewTrack tune;
  tune.source = "tunes.notes#1";
  tune.content_hash = "tune";
  tune.duration_s = 10;
  tune.melodies = melodies;
  {
    LiveIndex index(store_, snapshot());
    store_.put_track(tune);
    EXPECT_EQ(index.refresh(store_), 1U);
    EXPECT_EQ(index.current()->track_count(), 1U);
    index.save_if_worthwhile();
  }
  // An index that was built from the store would have this title; a change would have told of it.
  db::Connection(url_).query("update tracks set title = 'unheard of'");
  LiveIndex index(store_, snapshot());
  EXPECT_EQ(index.current()->track_count(), 1U);
  EXPECT_NE(index.current()->metadata(song).find("song 1"), std::string_view::npos);
}

TEST_F(LiveIndexTest, ASnapshotIsCaughtUpWithTheStore) {
  put(store_, 1);
  {
    LiveIndex index(store_, snapshot());
    index.save_if_worthwhile();
  }
  ASSERT_TRUE(fs::exists(snapshot()));
  const auto second = put(store_, 2);
  LiveIndex index(store_, snapshot());
  EXPECT_EQ(index.current()->track_count(), 2U);
  EXPECT_TRUE(index.current()->contains(second));
  EXPECT_NE(index.current()->metadata(second).find("song 2"), std::string_view::npos);
}

TEST_F(LiveIndexTest, ADamagedSnapshotIsRebuilt) {
  const auto first = put(store_, 1);
  std::ofstream(snapshot()) << "not a snapshot";
  LiveIndex index(store_, snapshot());
  EXPECT_TRUE(index.current()->contains(first));
  index.save_if_worthwhile();
  EXPECT_NO_THROW(fingerprint::Index::load(snapshot()));
}

TEST_F(LiveIndexTest, ASnapshotOfAnotherDatabaseIsRebuilt) {
  {
    db::Store other(make_database());
    for (unsigned seed = 10; seed < 15; ++seed) put(other, seed);
    LiveIndex index(other, snapshot());
    index.save_if_worthwhile();
  }
  const auto only = put(store_, 1);
  LiveIndex index(store_, snapshot());
  EXPECT_EQ(index.current()->track_count(), 1U);
  EXPECT_TRUE(index.current()->contains(only));
}

TEST_F(LiveIndexTest, ItIsNotSavedAgainForAFewTracks) {
  put(store_, 1);
  LiveIndex index(store_, snapshot());
  index.save_if_worthwhile();
  const auto saved = fs::last_write_time(snapshot());
  fs::last_write_time(snapshot(), saved - std::chrono::hours(1));
  put(store_, 2);
  index.refresh(store_);
  index.save_if_worthwhile();
  EXPECT_EQ(fs::last_write_time(snapshot()), saved - std::chrono::hours(1));
  for (unsigned seed = 10; seed < 40; ++seed) put(store_, seed);
  index.refresh(store_);
  index.save_if_worthwhile();
  EXPECT_GT(fs::last_write_time(snapshot()), saved - std::chrono::hours(1));
}

TEST_F(LiveIndexTest, APrivateServerThatDiedIsStartedAgainAndFollowed) {
  const db::ScratchDirectory directory;
  db::PrivateCluster cluster(directory.path() / "state");
  db::Store store(cluster.url());
  LiveIndex index(store, {});
  StatusBoard board({});
  const IndexFollower follower(index, db::Store(cluster.url()), board,
                               [&cluster] { cluster.ensure_running(); },
                               {.poll = std::chrono::milliseconds(50)});

  pid_t server = 0;
  std::ifstream(directory.path() / "state/postgres/data/postmaster.pid") >> server;
  ASSERT_GT(server, 1);
  ASSERT_EQ(::kill(server, SIGKILL), 0);

  // Nobody but the follower starts it. The bound is for a broken program; it takes about a second.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::optional<std::int64_t> track;
  while (std::chrono::steady_clock::now() < give_up) {
    try {
      if (!track) track = put(store, 7);
    } catch (const db::StoreError&) {  // not back yet
    }
    if (track && index.current()->contains(*track)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_TRUE(track) << "the server was not started again";
  EXPECT_TRUE(index.current()->contains(*track));
}

std::vector<std::byte> packed_tune(unsigned seed) {
  std::mt19937 random(seed);
  fingerprint::Melody melody;
  for (int i = 0; i < 100; ++i) {
    melody.notes.push_back(
        {0.4F * static_cast<float>(i), 0.4F, 60 + static_cast<float>(random() % 12)});
  }
  return fingerprint::pack_melodies({&melody, 1});
}

TEST_F(LiveIndexTest, TuneBookFollowsTheMelodiesOfTheStore) {
  const auto faults = [](const std::string& fault) { ADD_FAILURE() << fault; };
  const auto put_tune = [&](std::int64_t track_id, unsigned seed) {
    const auto packed = packed_tune(seed);
    EXPECT_TRUE(store_.put_melodies(
        track_id, {fingerprint::kMelodyFromRecording, fingerprint::kPackedMelodyVersion, packed}));
  };
  const std::int64_t one = put(store_, 1);
  const std::int64_t two = put(store_, 2);
  put_tune(one, 1);
  TuneBook book;
  book.refresh(store_, {}, faults);
  EXPECT_EQ(book.melodies(), 1U);
  EXPECT_EQ(book.track_of(0), one);

  put_tune(two, 2);
  put_tune(one, 3);  // in the place of the first
  book.refresh(store_, {}, faults);
  EXPECT_EQ(book.melodies(), 2U);
  store_.remove_track(one);
  book.refresh(store_, {}, faults);
  ASSERT_EQ(book.melodies(), 1U);
  for (std::uint32_t i = 0; i < book.index().size(); ++i) {
    if (!book.index()[i].empty()) {
      EXPECT_EQ(book.track_of(i), two);
    }
  }
  for (unsigned seed = 10; seed < 20; ++seed) {  // until it begins anew
    put_tune(two, seed);
    book.refresh(store_, {}, faults);
    EXPECT_EQ(book.melodies(), 1U);
  }
  EXPECT_LE(book.index().size(), 6U);
  book.refresh(store_, {}, faults);
  EXPECT_EQ(book.melodies(), 1U);
}

TEST_F(LiveIndexTest, TuneBookRefusesMoreThanItCanCompareInTime) {
  const auto faults = [](const std::string& fault) { ADD_FAILURE() << fault; };
  TuneBook book(2);
  for (unsigned number = 1; number <= 3; ++number) {
    const std::int64_t track_id = put(store_, number);
    const auto packed = packed_tune(number);
    store_.put_melodies(
        track_id, {fingerprint::kMelodyFromRecording, fingerprint::kPackedMelodyVersion, packed});
    if (number < 3) book.refresh(store_, {}, faults);
  }
  EXPECT_EQ(book.melodies(), 2U);
  EXPECT_THROW(book.refresh(store_, {}, faults), TuneBook::TooMany);
  TuneBook fresh(2);
  EXPECT_THROW(fresh.refresh(store_, {}, faults), TuneBook::TooMany) << "reading all, too";
}

TEST_F(LiveIndexTest, TuneBookThatIsStoppedKeepsWhatItHad) {
  const std::int64_t one = put(store_, 1);
  const auto packed = packed_tune(1);
  store_.put_melodies(
      one, {fingerprint::kMelodyFromRecording, fingerprint::kPackedMelodyVersion, packed});
  std::stop_source stop;
  stop.request_stop();
  TuneBook book;
  const auto faults = [](const std::string& fault) { ADD_FAILURE() << fault; };
  EXPECT_THROW(book.refresh(store_, stop.get_token(), faults), TuneBook::Interrupted);
  EXPECT_EQ(book.melodies(), 0U);
  book.refresh(store_, {}, faults);  // and the connection is as good as before
  EXPECT_EQ(book.melodies(), 1U);
}

}  // namespace
}  // namespace spintag::daemon
