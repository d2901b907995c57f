// tests/unit/db/melodies_test.cpp - melodies of tracks, and many tracks at a time.
#include <gmock/gmock.h>

#include <array>
#include <future>
#include <thread>

#include "tests/unit/db/store_test.h"

namespace spintag::db {
namespace {

using What = PutResult::What;
using ::testing::ElementsAre;

class MelodyStore : public StoreTest {
 protected:
  /// A tune without a recording.
  NewTrack tune(int n) {
    NewTrack track = made_up_track(n, {});
    track.profile.clear();
    track.landmarks = 0;
    track.melodies = of_notes_;
    return track;
  }

  std::vector<std::byte> packed_ = random_bytes(400, 7);
  std::array<NewMelodies, 1> of_notes_ = {NewMelodies{"notes", 1, packed_}};
};

TEST_F(MelodyStore, ATuneWithoutARecordingComesBackWithItsMelody) {
  const PutResult put = store_.put_track(tune(1));
  EXPECT_EQ(put.what, What::added);
  EXPECT_EQ(store_.find_track(put.track_id)->landmarks, 0);
  const auto found = store_.melodies({&put.track_id, 1});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].track_id, put.track_id);
  EXPECT_EQ(found[0].method, "notes");
  EXPECT_EQ(found[0].method_version, 1);
  EXPECT_EQ(found[0].packed, packed_);
  EXPECT_EQ(count("fingerprints"), 0);
  EXPECT_EQ(store_.count_fingerprints("broadcast", 3), 0);
  EXPECT_EQ(count("change_log"), 1);
}

TEST_F(MelodyStore, FingerprintsAreCountedByProfileAndVersion) {
  store_.put_track(made_up_track(1, packed_));
  store_.put_track(tune(2));
  EXPECT_EQ(store_.count_fingerprints("broadcast", 3), 1);
  EXPECT_EQ(store_.count_fingerprints("broadcast", 4), 0);
}

TEST_F(MelodyStore, TheSameTuneAgainChangesNothing) {
  const PutResult first = store_.put_track(tune(1));
  EXPECT_EQ(store_.put_track(tune(1)).what, What::already_there);
  EXPECT_EQ(store_.newest_change(), store_.changes_after(0, 0).at(0).change_id);
  EXPECT_EQ(store_.melodies({&first.track_id, 1}).size(), 1U);
}

TEST_F(MelodyStore, ANewVersionOfTheMethodTakesTheOldOnesPlace) {
  const PutResult first = store_.put_track(tune(1));
  const auto better = random_bytes(10, 8);
  const std::array<NewMelodies, 1> next = {NewMelodies{"notes", 2, better}};
  NewTrack again = tune(1);
  again.melodies = next;
  EXPECT_EQ(store_.put_track(again).what, What::replaced);
  const auto found = store_.melodies({&first.track_id, 1});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].method_version, 2);
  EXPECT_EQ(found[0].packed, better);
  EXPECT_EQ(count("change_log"), 2);
}

TEST_F(MelodyStore, ADamagedMelodyIsMendedByTheSameTune) {
  const PutResult first = store_.put_track(tune(1));
  direct_.query("update melodies set packed = '\\x0101'");
  const PutResult again = store_.put_track(tune(1));
  EXPECT_EQ(again.what, What::replaced);
  EXPECT_EQ(again.track_id, first.track_id);
  EXPECT_EQ(store_.melodies({&first.track_id, 1}).at(0).packed, packed_);
  EXPECT_EQ(count("change_log"), 2);
  EXPECT_EQ(store_.put_track(tune(1)).what, What::already_there);
}

TEST_F(MelodyStore, AMelodyIsAddedToARecordingThatIsThere) {
  const PutResult put = store_.put_track(made_up_track(1, packed_));
  EXPECT_TRUE(store_.put_melodies(put.track_id, {"recording", 1, packed_}));
  EXPECT_TRUE(store_.put_melodies(put.track_id, {"midi", 1, packed_}));
  const auto found = store_.melodies({&put.track_id, 1});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].method, "midi");
  EXPECT_EQ(found[1].method, "recording");
  EXPECT_EQ(store_.changes_after(0, 0).size(), 3U);
  EXPECT_EQ(store_.put_track(made_up_track(1, packed_)).what, What::already_there)
      << "a recording without melodies takes none away";
  EXPECT_EQ(count("melodies"), 2);
  EXPECT_FALSE(store_.put_melodies(put.track_id + 1, {"midi", 1, packed_}));
  EXPECT_EQ(count("melodies"), 2);
  EXPECT_EQ(store_.changes_after(0, 0).size(), 3U);
}

TEST_F(MelodyStore, ARemovedTrackTakesItsMelodiesAlong) {
  const PutResult kept = store_.put_track(tune(1));
  const PutResult gone = store_.put_track(tune(2));
  EXPECT_TRUE(store_.remove_track(gone.track_id));
  std::vector<std::int64_t> left;
  store_.for_each_melodies([&](Melodies&& melodies) { left.push_back(melodies.track_id); });
  EXPECT_THAT(left, ElementsAre(kept.track_id));
}

TEST_F(MelodyStore, OtherNotesAtTheSameSourceKeepTheIdAndLoseTheOldMelodies) {
  const PutResult first = store_.put_track(tune(1));
  store_.put_melodies(first.track_id, {"recording", 1, packed_});
  const auto other = random_bytes(20, 9);
  const std::array<NewMelodies, 1> next = {NewMelodies{"notes", 1, other}};
  NewTrack changed = tune(1);
  changed.content_hash = "other";
  changed.melodies = next;
  const PutResult second = store_.put_track(changed);
  EXPECT_EQ(second.what, What::replaced);
  EXPECT_EQ(second.track_id, first.track_id);
  const auto found = store_.melodies({&first.track_id, 1});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].packed, other);
}

TEST_F(MelodyStore, ManyAtATimeAreAsManyOneAfterAnother) {
  store_.put_track(tune(2));
  NewTrack elsewhere = tune(3);
  elsewhere.source = "/music/copy.notes";
  NewTrack changed = tune(1);
  changed.content_hash = "hash-1b";
  NewTrack back = tune(1);  // its content was at its source, and is not any more
  back.source = "/music/other.notes";
  const std::vector<NewTrack> tracks = {tune(1), tune(2), tune(3), elsewhere, changed, back};
  const auto results = store_.put_tracks(tracks);
  ASSERT_EQ(results.size(), tracks.size());
  EXPECT_EQ(results[0].what, What::added);
  EXPECT_EQ(results[1].what, What::already_there);
  EXPECT_EQ(results[2].what, What::added);
  EXPECT_EQ(results[3].what, What::already_there);
  EXPECT_EQ(results[3].track_id, results[2].track_id);
  EXPECT_EQ(results[4].what, What::replaced);
  EXPECT_EQ(results[4].track_id, results[0].track_id);
  EXPECT_EQ(results[5].what, What::added);
  EXPECT_EQ(count("tracks"), 4);
  EXPECT_EQ(count("melodies"), 4);
  EXPECT_EQ(store_.find_by_hash("hash-1b")->track_id, results[0].track_id);
  EXPECT_EQ(store_.find_by_hash("hash-1")->track_id, results[5].track_id);
  EXPECT_TRUE(store_.put_tracks({}).empty());
}

TEST_F(MelodyStore, OneThatIsRefusedKeepsAllOfThemOut) {
  NewTrack bad = tune(2);
  bad.info.extra_json = "[]";  // not an object: the table refuses it
  const std::vector<NewTrack> tracks = {tune(1), bad, tune(3)};
  EXPECT_THROW(store_.put_tracks(tracks), StoreError);
  EXPECT_EQ(count("tracks"), 0);
  EXPECT_EQ(count("melodies"), 0);
  EXPECT_EQ(count("change_log"), 0);
  EXPECT_EQ(store_.put_tracks(std::span(tracks).first(1)).front().what, What::added);
}

TEST_F(MelodyStore, BatchesInOppositeOrderDoNotWaitForEachOther) {
  std::vector<NewTrack> forwards;
  for (int n = 0; n < 100; ++n) forwards.push_back(tune(n));
  const std::vector<NewTrack> backwards(forwards.rbegin(), forwards.rend());
  const auto put = [&](const std::vector<NewTrack>& tracks) {
    return std::async(std::launch::async, [&] { return Store(url_).put_tracks(tracks); });
  };
  std::future<std::vector<PutResult>> first;
  std::future<std::vector<PutResult>> second;
  Connection observer(url_);
  direct_.transaction(
      [&] {  // while it holds a lock that both want, each has taken some of the rest
        direct_.query(
            "select pg_advisory_xact_lock(hashtext('spintag content'), hashtext('hash-50'))");
        first = put(forwards);
        second = put(backwards);
        const auto blocked =
            "select count(*) from pg_locks where locktype = 'advisory' and not granted";
        while (observer.query(blocked).integer(0, 0) < 2) std::this_thread::yield();
      });
  const auto forwards_put = first.get();  // a deadlock would throw
  const auto backwards_put = second.get();
  EXPECT_EQ(count("tracks"), 100);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(forwards_put[i].track_id, backwards_put[99 - i].track_id);
  }
}

}  // namespace
}  // namespace spintag::db
