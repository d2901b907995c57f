// tests/unit/db/catalogue_test.cpp - tracks and fingerprints in a real PostgreSQL.
#include <gmock/gmock.h>

#include <thread>

#include "tests/unit/db/store_test.h"

namespace spintag::db {
namespace {

using namespace std::string_literals;
using What = PutResult::What;

class Catalogue : public StoreTest {
 protected:
  std::vector<std::byte> packed_ = random_bytes(8640, 1);
};

TEST_F(Catalogue, WhatWasPutComesBack) {
  NewTrack track = made_up_track(1, packed_);
  track.info = {"T\u00eftle",
                "Art\"ist",
                "Album",
                "Label",
                "Composer",
                {"GBAYE0601498", "a,\"b\\"},
                "0f2a3b4c-0000-0000-0000-000000000001",
                R"({"b":1, "a":[2]})"};
  const PutResult put = store_.put_track(track);
  EXPECT_EQ(put.what, What::added);
  const auto found = store_.find_track(put.track_id);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->info.title, track.info.title);
  EXPECT_EQ(found->info.artist, track.info.artist);
  EXPECT_EQ(found->info.album, "Album");
  EXPECT_EQ(found->info.label, "Label");
  EXPECT_EQ(found->info.composer, "Composer");
  EXPECT_EQ(found->info.isrcs, track.info.isrcs);
  EXPECT_EQ(found->info.recording_mbid, track.info.recording_mbid);
  EXPECT_EQ(found->info.extra_json, track.info.extra_json);
  EXPECT_EQ(found->source, track.source);
  EXPECT_EQ(found->content_hash, track.content_hash);
  EXPECT_EQ(found->source_size, track.source_size);
  EXPECT_EQ(found->source_mtime_ns, track.source_mtime_ns);
  EXPECT_EQ(found->duration_s, 240.25);
  EXPECT_EQ(found->landmarks, 5480);
  EXPECT_GT(found->ingested_at, TimePoint{});
  EXPECT_EQ(store_.find_by_hash("hash-1")->track_id, put.track_id);
  EXPECT_EQ(store_.find_by_source("/music/1.flac")->track_id, put.track_id);
  EXPECT_FALSE(store_.find_by_hash("hash-2"));
  EXPECT_FALSE(store_.find_by_source("/music/2.flac"));
  EXPECT_FALSE(store_.find_track(put.track_id + 1));
}

TEST_F(Catalogue, TheSameContentElsewhereIsAlreadyThere) {
  const PutResult first = store_.put_track(made_up_track(1, packed_));
  NewTrack copy = made_up_track(1, packed_);
  copy.source = "/music/copy.flac";
  const PutResult second = store_.put_track(copy);
  EXPECT_EQ(second.what, What::already_there);
  EXPECT_EQ(second.track_id, first.track_id);
  EXPECT_EQ(count("tracks"), 1);
  EXPECT_EQ(count("change_log"), 1);
}

TEST_F(Catalogue, ATouchedFileIsKnownByItsNewTime) {
  const PutResult first = store_.put_track(made_up_track(1, packed_));
  NewTrack touched = made_up_track(1, packed_);
  touched.source_mtime_ns += 5;
  touched.source_size += 7;
  EXPECT_EQ(store_.put_track(touched).what, What::already_there);
  const auto found = store_.find_track(first.track_id);
  EXPECT_EQ(found->source_mtime_ns, touched.source_mtime_ns);
  EXPECT_EQ(found->source_size, touched.source_size);
}

TEST_F(Catalogue, OtherContentAtTheSamePathKeepsTheId) {
  const PutResult first = store_.put_track(made_up_track(1, packed_));
  direct_.query("insert into melodies values ($1, 'midi', 1, '\\x00')", {first.track_id});
  const auto other = random_bytes(500, 2);
  NewTrack track = made_up_track(2, other);
  track.source = "/music/1.flac";
  const PutResult second = store_.put_track(track);
  EXPECT_EQ(second.what, What::replaced);
  EXPECT_EQ(second.track_id, first.track_id);
  EXPECT_FALSE(store_.find_by_hash("hash-1"));
  EXPECT_EQ(store_.find_by_hash("hash-2")->info.title, "Title 2");
  EXPECT_EQ(count("melodies"), 0) << "made from the old audio";
  const auto prints = store_.fingerprints("broadcast", 3, std::vector{first.track_id});
  ASSERT_EQ(prints.size(), 1U);
  EXPECT_EQ(prints[0].packed, other);
}

TEST_F(Catalogue, ANewProfileVersionTakesTheOldOnesPlace) {
  const PutResult first = store_.put_track(made_up_track(1, packed_));
  const auto other = random_bytes(700, 3);
  NewTrack track = made_up_track(1, other);
  track.profile_version = 4;
  const PutResult second = store_.put_track(track);
  EXPECT_EQ(second.what, What::replaced);
  EXPECT_EQ(second.track_id, first.track_id);
  EXPECT_TRUE(store_.fingerprints("broadcast", 3, std::vector{first.track_id}).empty());
  EXPECT_EQ(store_.fingerprints("broadcast", 4, std::vector{first.track_id}).at(0).packed, other);
}

TEST_F(Catalogue, TwoWritersOfOneRecordingMakeOneTrack) {
  constexpr int kRounds = 20;
  std::vector<What> outcomes[2];
  const auto ingest = [&](std::size_t who) {
    Store store(url_);
    for (int i = 0; i < kRounds; ++i) {
      NewTrack track = made_up_track(i, packed_);
      track.source += std::to_string(who);
      outcomes[who].push_back(store.put_track(track).what);
    }
  };
  {
    std::jthread one(ingest, 0);
    std::jthread two(ingest, 1);
  }
  for (std::size_t i = 0; i < kRounds; ++i) {
    EXPECT_NE(outcomes[0][i] == What::added, outcomes[1][i] == What::added) << "round " << i;
  }
  EXPECT_EQ(count("tracks"), kRounds);
  EXPECT_EQ(count("fingerprints"), kRounds);
}

TEST_F(Catalogue, AnEditIsKeptAndLogged) {
  const auto id = store_.put_track(made_up_track(1, packed_)).track_id;
  TrackInfo info = store_.find_track(id)->info;
  info.title = "Right title";
  EXPECT_TRUE(store_.edit_track(id, info));
  EXPECT_EQ(store_.find_track(id)->info.title, "Right title");
  EXPECT_FALSE(store_.edit_track(id + 1, info));
  const auto changes = store_.changes_after(0, 0);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[1].track_id, id);
  EXPECT_EQ(changes[1].what, Change::What::upsert);
}

TEST_F(Catalogue, ARemovedTrackIsGoneEverywhereButInTheLogOfPlays) {
  const auto id = store_.put_track(made_up_track(1, packed_)).track_id;
  const auto other = store_.put_track(made_up_track(2, packed_)).track_id;
  for (const char* table : {"melodies", "signatures"}) {
    direct_.query("insert into "s + table + " values ($1, 'm', 1, '\\x00'), ($2, 'm', 1, '\\x00')",
                  {id, other});
  }
  Play play;
  play.station = "wjrh";
  play.track_id = id;
  play.track_json = R"({"title":"Title 1"})";
  store_.begin_play(play, {});
  EXPECT_TRUE(store_.remove_track(id));
  EXPECT_FALSE(store_.remove_track(id)) << "it is gone";
  for (const char* table : {"tracks", "fingerprints", "melodies", "signatures"}) {
    EXPECT_EQ(count(table), 1) << table << " keeps the other track";
  }
  EXPECT_EQ(store_.plays({}).at(0).track_json, play.track_json);
  const auto last = store_.changes_after(0, 0).back();
  EXPECT_EQ(last.what, Change::What::remove);
  EXPECT_EQ(last.track_id, id);
  EXPECT_EQ(store_.put_track(made_up_track(1, packed_)).what, What::added) << "it may come again";
}

TEST_F(Catalogue, TagsThatAreNoUtf8AreTaken) {
  NewTrack track = made_up_track(1, packed_);
  track.info.title = "caf\xe9\0!"s;
  track.info.artist = std::string(100'000, '\xff');
  track.info.isrcs = {"\xfe"};
  const auto id = store_.put_track(track).track_id;
  EXPECT_EQ(store_.find_track(id)->info.title, "caf\xEF\xBF\xBD\xEF\xBF\xBD!");
  EXPECT_EQ(store_.find_track(id)->info.isrcs, std::vector<std::string>{"\xEF\xBF\xBD"});
}

TEST_F(Catalogue, PathsThatAreNoUtf8StayApart) {
  NewTrack first = made_up_track(1, packed_);
  first.source = "/music/caf\xe9.flac";
  NewTrack second = made_up_track(2, packed_);
  second.source = "/music/caf\xe8.flac";
  EXPECT_EQ(store_.put_track(first).what, What::added);
  EXPECT_EQ(store_.put_track(second).what, What::added);
  EXPECT_EQ(store_.find_by_source(first.source)->source, first.source);
  EXPECT_EQ(store_.find_by_source(second.source)->content_hash, "hash-2");
}

TEST_F(Catalogue, APathOfAnyLengthIsTaken) {
  NewTrack track = made_up_track(1, packed_);
  track.source = "/" + std::string(10'000, 'x');
  const auto id = store_.put_track(track).track_id;
  EXPECT_EQ(store_.find_by_source(track.source)->track_id, id);
}

TEST_F(Catalogue, ExtraThatIsNoJsonObjectIsRefusedAndLeavesNothing) {
  for (const char* extra : {"{", "[1]", "", "nonsense"}) {
    NewTrack track = made_up_track(1, packed_);
    track.info.extra_json = extra;
    try {
      store_.put_track(track);
      ADD_FAILURE() << "took " << extra;
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), StoreError::Kind::refused) << error.what();
    }
  }
  EXPECT_EQ(count("tracks"), 0);
  EXPECT_EQ(store_.put_track(made_up_track(1, packed_)).what, What::added);
}

TEST_F(Catalogue, TracksAreVisitedInOrderAcrossPages) {
  direct_.query(
      "insert into tracks (track_id, content_hash, source, source_size, source_mtime_ns, "
      "duration_s,"
      " landmarks) select n, 'h' || n, 's' || n, 0, 0, 1, 0 from generate_series(1, 1203) n");
  std::int64_t expected = 1;
  store_.for_each_track([&](const Track& track) {
    EXPECT_EQ(track.track_id, expected++);
    if (track.track_id == 700) store_.edit_track(700, track.info);  // a visit may use the store
  });
  EXPECT_EQ(expected, 1204);
}

TEST_F(Catalogue, PackedBytesOfEveryValueComeBack) {
  std::vector<std::byte> bytes;
  for (int round = 0; round < 40; ++round) {
    for (int value = 0; value < 256; ++value) bytes.push_back(static_cast<std::byte>(value));
  }
  const auto id = store_.put_track(made_up_track(1, bytes)).track_id;
  const auto empty = store_.put_track(made_up_track(2, {})).track_id;
  std::size_t seen = 0;
  store_.for_each_fingerprint("broadcast", 3, [&](Fingerprint&& print) {
    ++seen;
    EXPECT_EQ(print.duration_s, 240.25);
    EXPECT_EQ(print.packed, print.track_id == id ? bytes : std::vector<std::byte>{});
  });
  EXPECT_EQ(seen, 2U);
  const auto some = store_.fingerprints("broadcast", 3, std::vector{empty, id, id + 1000});
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].track_id, id);
  EXPECT_EQ(some[0].packed, bytes);
  EXPECT_TRUE(store_.fingerprints("broadcast", 3, {}).empty());
  EXPECT_TRUE(store_.fingerprints("dejavu", 3, std::vector{id}).empty());
  EXPECT_TRUE(store_.fingerprints("it's", 3, std::vector{id}).empty());
}

TEST_F(Catalogue, AVisitThatThrowsEndsTheStreamAndTheStoreGoesOn) {
  for (int n = 0; n < 50; ++n) store_.put_track(made_up_track(n, packed_));
  int seen = 0;
  EXPECT_THROW(store_.for_each_fingerprint("broadcast", 3,
                                           [&](Fingerprint&&) {
                                             if (++seen == 3) throw std::out_of_range("enough");
                                           }),
               std::out_of_range);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(store_.sizes().tracks, 50);
}

TEST_F(Catalogue, ASnapshotSeesOneStateAndTakesNoChanges) {
  store_.put_track(made_up_track(1, packed_));
  const auto before = store_.newest_change();
  Store other(url_);
  store_.with_snapshot([&] {
    EXPECT_EQ(store_.newest_change(), before);
    other.put_track(made_up_track(2, packed_));
    EXPECT_EQ(store_.newest_change(), before);
    int seen = 0;
    store_.for_each_fingerprint("broadcast", 3, [&](Fingerprint&&) { ++seen; });
    EXPECT_EQ(seen, 1);
    EXPECT_THROW(store_.put_track(made_up_track(3, packed_)), StoreError);
  });
  EXPECT_GT(store_.newest_change(), before);
  EXPECT_EQ(store_.sizes().tracks, 2);
}

TEST_F(Catalogue, AFollowerMissesNoChangeOfConcurrentWriters) {
  constexpr int kWriters = 4;
  constexpr int kTracks = 40;
  std::vector<std::jthread> writers;
  for (int who = 0; who < kWriters; ++who) {
    writers.emplace_back([this, who] {
      Store store(url_);
      for (int i = 0; i < kTracks; ++i) store.put_track(made_up_track(who * 1000 + i, packed_));
    });
  }
  std::vector<Change> followed;
  std::int64_t cursor = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (followed.size() < kWriters * kTracks && std::chrono::steady_clock::now() < deadline) {
    for (const Change& change : store_.changes_after(cursor, 7)) {
      EXPECT_GT(change.change_id, cursor);
      cursor = change.change_id;
      followed.push_back(change);
    }
  }
  writers.clear();
  EXPECT_EQ(followed.size(), static_cast<std::size_t>(kWriters * kTracks));
  EXPECT_EQ(store_.changes_after(0, 0).size(), followed.size()) << "none came in behind the cursor";
  EXPECT_EQ(store_.newest_change(), cursor);
}

TEST_F(Catalogue, AFourMinuteSongCostsAtMostTwelveKibibytes) {
  direct_.query("truncate tracks, fingerprints, melodies, signatures, change_log");
  constexpr int kTracks = 300;
  for (int n = 0; n < kTracks; ++n) {
    const auto packed = random_bytes(8640, static_cast<unsigned>(n));
    NewTrack track = made_up_track(n, packed);
    track.content_hash = std::string(56, 'a') + std::to_string(10'000'000 + n);
    track.source =
        "/srv/music/library/Some Artist/Some Album (1998)/01 - " + std::to_string(n) + ".flac";
    store_.put_track(track);
  }
  const Sizes sizes = store_.sizes();
  EXPECT_EQ(sizes.tracks, kTracks);
  EXPECT_LT(sizes.total_bytes / kTracks, 12 * 1024);
  EXPECT_GT(sizes.fingerprint_bytes / kTracks, 8640);
  RecordProperty("bytes_per_track", std::to_string(sizes.total_bytes / kTracks));
}

}  // namespace
}  // namespace spintag::db
