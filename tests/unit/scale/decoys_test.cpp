// tests/unit/scale/decoys_test.cpp - real tracks stay what they are among decoys, and a decoy can
// be told from them.
#include "tests/bench/scale/decoys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "fingerprint/index_shard.h"
#include "fingerprint/matcher.h"
#include "fingerprint/reference.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::bench {
namespace {

using fingerprint::Index;
using fingerprint::IndexTrack;
using fingerprint::Matcher;
using fingerprint::PackedPeaks;
using fingerprint::TrackId;

constexpr double kSongSeconds = 60;
constexpr double kClipSeconds = 10;
constexpr std::size_t kDecoys = 20;
constexpr std::uint64_t kSeed = 5;

/// What decoys are made of: none of it is in the real catalogue.
std::vector<MusicTrack> decoy_music() {
  std::vector<MusicTrack> music;
  for (std::uint32_t seed = 700; seed < 706; ++seed)
    music.push_back({40, fingerprint::peaks_of(fingerprint::make_music(seed, 40))});
  return music;
}

CatalogueParams params(std::uint64_t seed = kSeed) {
  CatalogueParams params;
  params.seed = seed;
  params.song_s = kSongSeconds;
  return params;
}

/// Three real songs of ids 11, 42 and 17, in two shards, and 20 decoys. Made once: tests read them.
struct Mixed {
  Mixed() {
    for (std::uint32_t seed = 50; seed < 53; ++seed) {
      audio.push_back(fingerprint::make_music(seed, kSongSeconds));
      prints.push_back(fingerprint::make_reference(fingerprint::peaks_of(audio.back())));
    }
    const std::vector<IndexTrack> first{track(0), track(1)};
    const std::vector<IndexTrack> second{track(2)};
    real = Index::build(first)->changed(second, {});
    index = with_decoys(*real, decoys, kDecoys, 2);
  }
  IndexTrack track(std::size_t i) const { return {ids[i], kSongSeconds, prints[i], metadata[i]}; }
  static const Mixed& get() {
    static const Mixed mixed;
    return mixed;
  }
  const std::vector<TrackId> ids{11, 42, 17};
  const std::vector<std::string> metadata{R"({"source":"a.ogg"})", R"({"source":"b \"live\".ogg"})",
                                          ""};
  const std::vector<MusicTrack> music = decoy_music();
  const Catalogue decoys{music, params()};
  std::vector<std::vector<float>> audio;
  std::vector<PackedPeaks> prints;
  std::shared_ptr<const Index> real;
  std::shared_ptr<const Index> index;
};

/// A track's packed peaks as the index holds them.
PackedPeaks held(const Index& index, TrackId id) {
  for (const auto& shard : index.shards()) {
    if (const auto track = shard->find(id)) {
      const auto packed = shard->packed(shard->arrays().tracks[*track]);
      return {packed.begin(), packed.end()};
    }
  }
  return {};
}

TEST(Decoys, RealTracksKeepIdMetadataLengthAndPeaks) {
  const Mixed& mixed = Mixed::get();
  ASSERT_EQ(mixed.index->track_count(), mixed.ids.size() + kDecoys);
  for (std::size_t i = 0; i < mixed.ids.size(); ++i) {
    SCOPED_TRACE(mixed.ids[i]);
    EXPECT_TRUE(mixed.index->contains(mixed.ids[i]));
    EXPECT_EQ(mixed.index->metadata(mixed.ids[i]), mixed.metadata[i]);
    EXPECT_EQ(mixed.index->duration_s(mixed.ids[i]), kSongSeconds);
    EXPECT_EQ(held(*mixed.index, mixed.ids[i]), mixed.prints[i]);
  }
}

TEST(Decoys, HaveTheIdsBeyondTheHighestRealOneAndNamesThatSaySo) {
  const Mixed& mixed = Mixed::get();
  std::vector<TrackId> expected{11, 17, 42};
  for (std::size_t i = 0; i < kDecoys; ++i) expected.push_back(43 + static_cast<TrackId>(i));
  EXPECT_EQ(mixed.index->track_ids(), expected);
  EXPECT_EQ(mixed.index->metadata(43),
            R"({"source":"decoy-000000","title":"Decoy 0","artist":"spintag_scale_decoys"})");
  EXPECT_EQ(mixed.index->metadata(62),
            R"({"source":"decoy-000019","title":"Decoy 19","artist":"spintag_scale_decoys"})");
  EXPECT_EQ(decoy_metadata(1'234'567).substr(0, 25), R"({"source":"decoy-1234567")");
}

TEST(Decoys, ClipsOfRealTracksAreStillNamedAndNoDecoyIs) {
  const Mixed& mixed = Mixed::get();
  Matcher matcher;
  for (std::size_t i = 0; i < mixed.ids.size(); ++i) {
    for (const double at : {0.0, 23.4, 49.5}) {
      SCOPED_TRACE(at);
      const auto peaks =
          fingerprint::peaks_of(fingerprint::excerpt(mixed.audio[i], at, kClipSeconds));
      const auto found = matcher.match(*mixed.index, peaks, 0, kClipSeconds);
      ASSERT_FALSE(found.empty());
      EXPECT_NEAR(found[0].track_start_s, at, 0.010);
      for (const auto& match : found) EXPECT_EQ(match.track_id, mixed.ids[i]);
    }
  }
}

TEST(Decoys, AreFoundByTheirIdWhenTheyAreWhatPlays) {
  const Mixed& mixed = Mixed::get();
  Matcher matcher;
  for (std::size_t i = 0; i < kDecoys; ++i) {
    SCOPED_TRACE(i);
    const auto heard = mixed.decoys.heard(i, 20, 20 + kClipSeconds);
    const auto found = matcher.match(*mixed.index, heard, 0, kClipSeconds);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].track_id, 43 + static_cast<TrackId>(i));
    EXPECT_NEAR(found[0].track_start_s, 20, 0.05);
  }
}

TEST(Decoys, SameSeedGivesTheSameFromAnyNumberOfThreadsAndAnotherSeedOthers) {
  const Mixed& mixed = Mixed::get();
  const auto again = with_decoys(*mixed.real, mixed.decoys, kDecoys, 1);
  const Catalogue others(mixed.music, params(kSeed + 1));
  const auto different = with_decoys(*mixed.real, others, kDecoys, 1);
  for (TrackId id = 43; id < 43 + static_cast<TrackId>(kDecoys); ++id) {
    EXPECT_FALSE(held(*mixed.index, id).empty());
    EXPECT_EQ(held(*again, id), held(*mixed.index, id));
    EXPECT_NE(held(*different, id), held(*mixed.index, id));
  }
}

TEST(Decoys, StandAloneFromIdOne) {
  const Mixed& mixed = Mixed::get();
  const auto alone = with_decoys(Index(), mixed.decoys, 2, 1);
  EXPECT_EQ(alone->track_ids(), (std::vector<TrackId>{1, 2}));
}

TEST(Decoys, RealIdsThatLeaveTooFewAreRefused) {
  const Mixed& mixed = Mixed::get();
  const TrackId highest = std::numeric_limits<TrackId>::max();
  for (const TrackId id : {highest, highest - 2}) {
    IndexTrack track = mixed.track(0);
    track.track_id = id;
    const auto real = Index::build({&track, 1});
    EXPECT_THROW(with_decoys(*real, mixed.decoys, 3, 1), fingerprint::IndexError) << id;
  }
  IndexTrack track = mixed.track(0);
  track.track_id = highest - 2;
  EXPECT_EQ(with_decoys(*Index::build({&track, 1}), mixed.decoys, 2, 1)->track_ids().back(),
            highest);
}

}  // namespace
}  // namespace spintag::bench
