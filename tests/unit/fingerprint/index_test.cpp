// tests/unit/fingerprint/index_test.cpp - postings found again at any size, changes, and snapshots
// that are whole or refused.
#include "fingerprint/index.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include "fingerprint/index_shard.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/reference.h"

namespace spintag::fingerprint {
namespace {

namespace fs = std::filesystem;

/// A print of random peaks: cheap to make by the hundred.
PackedPeaks random_print(std::uint32_t seed, double seconds) {
  std::mt19937 random(seed);
  std::vector<Peak> peaks;
  for (double t = 0.1; t < seconds;
       t += 0.05 + 0.07 * (static_cast<double>(random()) / 4294967296.0)) {
    peaks.push_back(
        {t, 250.0F + 4700.0F * static_cast<float>(static_cast<double>(random()) / 4294967296.0),
         8.0F + static_cast<float>(random() % 18)});
  }
  return make_reference(peaks);
}

struct Catalogue {
  explicit Catalogue(std::size_t size, double seconds = 60) {
    for (std::size_t i = 0; i < size; ++i) {
      prints.push_back(random_print(static_cast<std::uint32_t>(1000 + i), seconds));
      durations.push_back(seconds);
    }
    for (std::size_t i = 0; i < size; ++i) tracks.push_back(track(i));
  }
  IndexTrack track(std::size_t i) const {
    return {static_cast<TrackId>(7 + 3 * i), durations[i], prints[i],
            "{\"n\":" + std::to_string(i) + "}"};
  }
  std::vector<PackedPeaks> prints;
  std::vector<double> durations;
  std::vector<IndexTrack> tracks;
};

/// (track, unit within it) of every posting of a hash.
std::multimap<TrackId, std::uint32_t> postings(const Index& index, std::uint32_t hash) {
  std::multimap<TrackId, std::uint32_t> found;
  for (const auto& shard : index.shards()) {
    shard->for_each_unit(hash, [&](std::uint32_t unit) {
      const std::size_t number = shard->track_at(unit);
      const ShardTrack& track = shard->arrays().tracks[number];
      if (shard->is_live(number)) found.emplace(track.track_id, unit - track.first_unit);
    });
  }
  return found;
}

void expect_holds_exactly(const Index& index, const std::vector<IndexTrack>& tracks) {
  std::map<std::uint32_t, std::multimap<TrackId, std::uint32_t>> expected;
  for (const IndexTrack& track : tracks) {
    std::vector<Landmark> landmarks;
    make_reference_landmarks(unpack_peaks(track.packed), landmarks);
    for (const Landmark& l : landmarks) {
      expected[l.hash].emplace(track.track_id,
                               static_cast<std::uint32_t>(l.anchor_time_s / IndexShard::kUnitS));
    }
  }
  ASSERT_FALSE(expected.empty());
  const auto sorted = [](const std::multimap<TrackId, std::uint32_t>& map) {
    std::vector<std::pair<TrackId, std::uint32_t>> pairs(map.begin(), map.end());
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  };
  std::size_t wrong = 0;
  for (const auto& [hash, places] : expected)
    wrong += sorted(postings(index, hash)) != sorted(places) ? 1 : 0;
  EXPECT_EQ(wrong, 0U) << "of " << expected.size() << " hashes";
  std::mt19937 random(99);
  for (int i = 0; i < 20'000; ++i) {  // and hashes that are not there have none
    const std::uint32_t hash = random() & ((1U << 27) - 1);
    if (!expected.contains(hash)) {
      EXPECT_TRUE(postings(index, hash).empty()) << hash;
    }
  }
}

fs::path scratch_file(const std::string& name) {
  return fs::temp_directory_path() / ("spintag-" + std::to_string(::getpid()) + "-" + name);
}

TEST(Index, EveryPostingIsFoundAndNoOther) {
  for (const std::size_t size : {1U, 2U, 40U}) {
    SCOPED_TRACE(size);
    const Catalogue catalogue(size);
    const auto index = Index::build(catalogue.tracks);
    EXPECT_EQ(index->track_count(), size);
    expect_holds_exactly(*index, catalogue.tracks);
  }
}

TEST(Index, LongTimeLinesLeaveFewKeysABucket) {
  // 3,000 tracks of five hours are 2.7e9 units: three shards whose buckets hold 4 keys instead of
  // thousands.
  Catalogue catalogue(12, 60);
  std::vector<IndexTrack> tracks;
  for (std::size_t i = 0; i < 3000; ++i) {
    IndexTrack track = catalogue.track(i % 12);
    track.track_id = static_cast<TrackId>(i);
    track.duration_s = 18'000;
    if (i >= 12) track.packed = {};
    tracks.push_back(track);
  }
  const auto index = Index::build(tracks);
  EXPECT_GE(index->shards().size(), 3U);
  EXPECT_EQ(index->track_count(), 3000U);
  tracks.resize(12);
  expect_holds_exactly(*index, tracks);
}

TEST(Index, SizeStaysWithinItsBudgetAtEverySize) {
  // 4 bytes a posting, the peaks, and a directory of at most half a byte a posting.
  for (const std::size_t size : {1U, 30U, 200U}) {
    const Catalogue catalogue(size, 240);
    const auto index = Index::build(catalogue.tracks);
    std::size_t peaks = 0;
    for (const auto& print : catalogue.prints) peaks += print.size();
    EXPECT_LT(index->resident_bytes(), 4.5 * static_cast<double>(index->posting_count()) +
                                           static_cast<double>(peaks + 100 * size));
  }
}

/// The arrays of a shard by their definition in index_shard.h, from one sort of everything.
void expect_is_its_definition(const ShardArrays& arrays, std::span<const IndexTrack> tracks) {
  ASSERT_EQ(arrays.tracks.size(), tracks.size());
  const std::uint64_t per_bucket = 0xFFFFFFFFU / arrays.units;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;  // bucket, word
  std::uint64_t first_unit = 0;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    EXPECT_EQ(arrays.tracks[i].track_id, tracks[i].track_id);
    EXPECT_EQ(arrays.tracks[i].first_unit, first_unit);
    EXPECT_TRUE(std::ranges::equal(
        arrays.packed.subspan(arrays.tracks[i].packed_begin, arrays.tracks[i].packed_bytes),
        tracks[i].packed));
    std::vector<Landmark> landmarks;
    make_reference_landmarks(unpack_peaks(tracks[i].packed), landmarks);
    for (const Landmark& landmark : landmarks) {
      const auto unit = first_unit + static_cast<std::uint64_t>(landmark.anchor_time_s / 0.020);
      const std::uint64_t key = IndexShard::key_of(landmark.hash);
      expected.emplace_back(key / per_bucket, key % per_bucket * arrays.units + unit);
    }
    first_unit += IndexShard::units_of(tracks[i].duration_s);
  }
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(arrays.words.size(), expected.size());
  std::size_t wrong = 0;
  std::size_t at = 0;
  for (std::size_t bucket = 0; bucket + 1 < arrays.directory.size(); ++bucket) {
    wrong += arrays.directory[bucket] != at ? 1 : 0;
    for (; at < expected.size() && expected[at].first == bucket; ++at)
      wrong += arrays.words[at] != expected[at].second ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(arrays.directory.back(), expected.size());
}

/// Few prints many times over: enough work for several threads, and buckets of any length.
std::vector<IndexTrack> repeated(const Catalogue& catalogue, std::size_t times) {
  std::vector<IndexTrack> tracks;
  for (std::size_t i = 0; i < times * catalogue.tracks.size(); ++i) {
    IndexTrack track = catalogue.tracks[i * i % catalogue.tracks.size()];
    track.track_id = static_cast<TrackId>(i);
    tracks.push_back(std::move(track));
  }
  return tracks;
}

TEST(Index, ArraysAreTheSameFromAnyNumberOfThreads) {
  const Catalogue catalogue(40, 120);
  const std::vector<IndexTrack> tracks = repeated(catalogue, 25);
  std::size_t packed_bytes = 0;
  for (const IndexTrack& track : tracks) packed_bytes += track.packed.size();
  ASSERT_GT(packed_bytes, std::size_t{3} << 20) << "too little for four threads";
  const auto alone = IndexShard::build(tracks, 1);
  expect_is_its_definition(alone->arrays(), tracks);
  for (const unsigned threads : {2U, 3U, 4U, 0U}) {
    SCOPED_TRACE(threads);
    const auto shard = IndexShard::build(tracks, threads);
    EXPECT_TRUE(std::ranges::equal(shard->arrays().words, alone->arrays().words));
    EXPECT_TRUE(std::ranges::equal(shard->arrays().directory, alone->arrays().directory));
    EXPECT_TRUE(std::ranges::equal(shard->arrays().packed, alone->arrays().packed));
    EXPECT_TRUE(std::ranges::equal(shard->arrays().metadata, alone->arrays().metadata));
  }
}

TEST(Index, ArraysAreTheirDefinitionAtAnySize) {
  const Catalogue catalogue(7, 20);
  for (std::size_t size = 1; size <= catalogue.tracks.size(); size += 3) {
    SCOPED_TRACE(size);
    const auto tracks = std::span(catalogue.tracks).first(size);
    expect_is_its_definition(IndexShard::build(tracks)->arrays(), tracks);
  }
}

TEST(Index, FirstDamagedTrackIsNamedByAnyNumberOfThreads) {
  const Catalogue catalogue(40, 120);
  std::vector<IndexTrack> tracks = repeated(catalogue, 25);
  for (const std::size_t damaged : {std::size_t{400}, std::size_t{401}, std::size_t{999}})
    tracks[damaged].packed = tracks[damaged].packed.first(tracks[damaged].packed.size() - 1);
  for (const unsigned threads : {1U, 4U}) {
    try {
      Index::build(tracks, threads);
      ADD_FAILURE() << "built by " << threads;
    } catch (const IndexError& error) {
      EXPECT_EQ(std::string(error.what()).find("track 400:"), 0U) << error.what();
    }
  }
}

TEST(Index, EmptyIndexAnswersNothing) {
  const auto index = Index::build({});
  EXPECT_EQ(index->track_count(), 0U);
  EXPECT_TRUE(postings(*index, 12345).empty());
  const Catalogue catalogue(2);
  expect_holds_exactly(*index->changed(catalogue.tracks, {}), catalogue.tracks);
}

TEST(Index, ChangesEqualARebuild) {
  const Catalogue catalogue(30);
  std::mt19937 random(5);
  auto index = Index::build(std::span(catalogue.tracks).first(10));
  std::map<TrackId, IndexTrack> truth;
  for (std::size_t i = 0; i < 10; ++i) truth[catalogue.tracks[i].track_id] = catalogue.tracks[i];
  for (int step = 0; step < 40; ++step) {
    std::vector<IndexTrack> added;
    std::vector<TrackId> removed;
    for (int k = 0; k < 2; ++k) added.push_back(catalogue.track(random() % 30));
    added[1].track_id = added[0].track_id + 1;  // other audio under a new id, later replaced
    if (step % 3 == 0) removed.push_back(static_cast<TrackId>(7 + 3 * (random() % 30)));
    index = index->changed(added, removed);
    for (const TrackId id : removed) truth.erase(id);
    for (const IndexTrack& track : added) truth[track.track_id] = track;
  }
  std::vector<IndexTrack> tracks;
  std::vector<TrackId> ids;
  for (const auto& [id, track] : truth) {
    tracks.push_back(track);
    ids.push_back(id);
  }
  EXPECT_EQ(index->track_ids(), ids);
  EXPECT_LE(index->shards().size(), 8U);  // merged as they multiply
  expect_holds_exactly(*index, tracks);
}

TEST(Index, OldVersionsGoOnWhileANewOneIsMade) {
  const Catalogue catalogue(4);
  const auto before = Index::build(std::span(catalogue.tracks).first(3));
  const std::vector<TrackId> removed{catalogue.tracks[0].track_id};
  const auto after = before->changed(std::span(catalogue.tracks).last(1), removed);
  EXPECT_TRUE(before->contains(removed[0]));
  EXPECT_FALSE(after->contains(removed[0]));
  EXPECT_EQ(after->metadata(removed[0]), "");
  EXPECT_EQ(before->metadata(removed[0]), "{\"n\":0}");
  EXPECT_EQ(after->duration_s(catalogue.tracks[3].track_id), 60);
}

TEST(Snapshot, LoadsWhatWasSaved) {
  const Catalogue catalogue(20);
  const auto file = scratch_file("index");
  const auto index = Index::build(catalogue.tracks)
                         ->changed({}, std::vector<TrackId>{catalogue.tracks[4].track_id});
  index->save(file, 42);
  const auto loaded = Index::load(file);
  EXPECT_EQ(loaded.stamp, 42);
  EXPECT_EQ(loaded.index->track_ids(), index->track_ids());
  auto left = catalogue.tracks;
  left.erase(left.begin() + 4);
  expect_holds_exactly(*loaded.index, left);
  EXPECT_EQ(loaded.index->metadata(left[7].track_id), left[7].metadata);
  // A mapped index changes like any other, and may replace its own file.
  const auto changed = loaded.index->changed(std::vector<IndexTrack>{catalogue.tracks[4]}, {});
  changed->save(file, 43);
  expect_holds_exactly(*Index::load(file).index, catalogue.tracks);
  fs::remove(file);
}

TEST(Snapshot, DamageIsRefusedAndNamed) {
  const Catalogue catalogue(3);
  const auto file = scratch_file("damaged");
  Index::build(catalogue.tracks)->save(file, 1);
  std::string good;
  {
    std::ifstream in(file, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto expect_refused = [&](const std::string& bytes, const std::string& what) {
    std::ofstream(file, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    try {
      Index::load(file);
      ADD_FAILURE() << "loaded: " << what;
    } catch (const IndexError& error) {
      EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos) << error.what();
    }
  };
  for (const std::size_t keep :
       {std::size_t{0}, std::size_t{10}, std::size_t{127}, good.size() / 2, good.size() - 1}) {
    expect_refused(good.substr(0, keep), "cut to " + std::to_string(keep));
  }
  std::mt19937 random(8);
  for (int i = 0; i < 30; ++i) {
    std::string bad = good;
    // The 4 bytes after the checksum are padding of the header: everything else counts.
    const std::size_t at =
        i < 10 ? static_cast<std::size_t>(random() % 72) : 128 + random() % (good.size() - 128);
    if (at >= 24 && at < 32) continue;  // the stamp is the caller's own
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    expect_refused(bad, "byte " + std::to_string(at));
  }
  expect_refused(good + "x", "longer");
  fs::remove(file);
  EXPECT_THROW(Index::load(file), IndexError);
}

TEST(Snapshot, FailedSaveLeavesTheOldFile) {
  const Catalogue catalogue(2);
  const auto folder = scratch_file("folder");
  fs::create_directory(folder);
  EXPECT_THROW(Index::build(catalogue.tracks)->save(folder / "missing" / "index", 1), IndexError);
  EXPECT_THROW(Index::build(catalogue.tracks)->save(folder, 1),
               IndexError);  // a folder cannot be replaced
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace spintag::fingerprint
