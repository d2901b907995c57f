// tests/unit/fingerprint/cuda_votes_test.cpp - votes on a CUDA device against those of the CPU.
#include <gtest/gtest.h>

#include <random>

#include "fingerprint/index.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/reference.h"
#include "fingerprint/votes.h"
#include "tests/unit/cuda_test.h"

namespace spintag::fingerprint {
namespace {

using CudaVotes = CudaTest;

struct Song {
  std::vector<Peak> peaks;
  PackedPeaks packed;
  double duration_s = 0;
};

/// Peaks on a few dozen tones, so that hashes are shared as those of music are.
Song random_song(std::uint32_t seed, double seconds, std::uint32_t tones) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  Song song;
  song.duration_s = seconds;
  for (double t = 0.05; t < seconds; t += 0.03 + 0.06 * uniform()) {
    const double tone = static_cast<double>(random() % tones) / tones;
    song.peaks.push_back({t, static_cast<float>(300 + 4500 * tone + 3 * uniform()),
                          static_cast<float>(6 + 18 * uniform())});
  }
  song.packed = make_reference(song.peaks);
  return song;
}

std::shared_ptr<const Index> index_of(const std::vector<Song>& songs) {
  std::vector<IndexTrack> tracks;
  for (std::size_t i = 0; i < songs.size(); ++i) {
    tracks.push_back({static_cast<TrackId>(i + 1), songs[i].duration_s, songs[i].packed, ""});
  }
  return Index::build(tracks);
}

std::vector<Probe> probes_of(const Song& song, double start_s, double length_s,
                             const Hypothesis& hypothesis = {}) {
  std::vector<Peak> peaks;
  for (const Peak& peak : song.peaks) {
    if (peak.time_s >= start_s && peak.time_s < start_s + length_s) peaks.push_back(peak);
  }
  std::vector<Probe> probes;
  make_query_probes(peaks, start_s, hypothesis, {}, probes);
  return probes;
}

void expect_equal(kernels::Device& cpu, kernels::Device& cuda, const IndexShard& shard,
                  const std::vector<std::vector<Probe>>& windows, std::uint32_t fewest,
                  std::size_t most, std::uint32_t longest_bucket = kEveryBucket) {
  const std::vector<std::span<const Probe>> spans(windows.begin(), windows.end());
  const auto expected = count_votes(cpu, shard, spans, fewest, most, longest_bucket);
  const auto found = count_votes(cuda, shard, spans, fewest, most, longest_bucket);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t w = 0; w < expected.size(); ++w) {
    ASSERT_EQ(found[w].size(), expected[w].size()) << "window " << w;
    for (std::size_t k = 0; k < expected[w].size(); ++k) {
      EXPECT_EQ(found[w][k].votes, expected[w][k].votes) << "window " << w << ", place " << k;
      EXPECT_EQ(found[w][k].offset_s, expected[w][k].offset_s) << "window " << w << ", place " << k;
    }
  }
}

TEST_F(CudaVotes, EqualTheCpuOnSongsThatShareTheirTones) {
  std::vector<Song> songs;
  for (std::uint32_t i = 0; i < 40; ++i) songs.push_back(random_song(i, 30 + 7 * i % 50, 60));
  const auto index = index_of(songs);
  ASSERT_EQ(index->shards().size(), 1U);
  std::vector<std::vector<Probe>> windows;
  for (std::size_t i = 0; i < 5; ++i) {
    windows.push_back(probes_of(songs[i], 5, 10));
    windows.push_back(probes_of(songs[i], 11.3, 5, {1.02, 0.98}));
    windows.push_back(probes_of(random_song(500 + static_cast<std::uint32_t>(i), 12, 60), 0, 12));
  }
  windows.emplace_back();  // a window without probes
  windows.push_back({Probe{.hash = 12345, .count = 2, .anchor_step = 7}});
  for (const std::size_t most : {8U, 24U}) {
    expect_equal(cpu_, cuda_, *index->shards()[0], windows, 3, most);
  }
  expect_equal(cpu_, cuda_, *index->shards()[0], windows, 1, 24);
}

/// More votes on one counter than 16 bits hold, and more nominations than a list has room for.
TEST_F(CudaVotes, EqualTheCpuWhereOneSoundIsRepeatedForever) {
  Song drone;
  drone.duration_s = 200;
  for (double t = 0.1; t < drone.duration_s; t += 0.1) {
    drone.peaks.push_back({t, 1000.0F, 20});
    drone.peaks.push_back({t + 0.004, 1500.0F, 20});
  }
  drone.packed = make_reference(drone.peaks);
  const auto index = index_of({drone, random_song(3, 20, 40)});
  std::vector<std::vector<Probe>> windows{probes_of(drone, 20, 60)};
  std::vector<Probe> many;  // the same question over and over
  for (int i = 0; i < 100; ++i)
    many.insert(many.end(), windows[0].begin(), windows[0].begin() + 400);
  windows.push_back(many);
  expect_equal(cpu_, cuda_, *index->shards()[0], windows, 3, 24);
  expect_equal(cpu_, cuda_, *index->shards()[0], windows, 1, 64);
}

TEST_F(CudaVotes, EqualTheCpuOnATimeLineOfManyPartitions) {
  std::vector<Song> songs;
  for (std::uint32_t i = 0; i < 3; ++i) songs.push_back(random_song(70 + i, 60, 80));
  songs[1].duration_s = 9'000;  // the rest of it is empty: five partitions
  const auto index = index_of(songs);
  std::vector<std::vector<Probe>> windows;
  for (const Song& song : songs) windows.push_back(probes_of(song, 1, 55));
  expect_equal(cpu_, cuda_, *index->shards()[0], windows, 2, 24);
}

TEST_F(CudaVotes, LeaveOutTheBucketsThatTheCpuLeavesOut) {
  std::vector<Song> songs;
  for (std::uint32_t i = 0; i < 20; ++i) songs.push_back(random_song(i, 60, 30));
  songs.push_back(random_song(99, 5, 30));
  songs.back().duration_s = 5e6;  // few keys a bucket: probes of two hashes spill over two
  const auto index = index_of(songs);
  std::vector<std::vector<Probe>> windows;
  for (std::size_t i = 0; i < 5; ++i) windows.push_back(probes_of(songs[i], 5, 10));
  for (const std::uint32_t longest : {0U, 1U, 2U, 5U, 15U, 31U, 32U, 33U, 100U})
    expect_equal(cpu_, cuda_, *index->shards()[0], windows, 1, 64, longest);
  const auto votes_up_to = [&](std::uint32_t longest) {
    std::vector<std::span<const Probe>> spans(windows.begin(), windows.end());
    std::uint64_t votes = 0;
    for (const auto& window : count_votes(cuda_, *index->shards()[0], spans, 1, 64, longest)) {
      for (const Nomination& place : window) votes += place.votes;
    }
    return votes;
  };
  EXPECT_GT(votes_up_to(15), 0U);
  EXPECT_GT(votes_up_to(kEveryBucket), votes_up_to(15)) << "there are longer ones";
}

TEST_F(CudaVotes, EmptyBatchesAndTinyShardsAreNoTrouble) {
  const auto index = index_of({random_song(1, 3, 20)});
  expect_equal(cpu_, cuda_, *index->shards()[0], {}, 3, 8);
  expect_equal(cpu_, cuda_, *index->shards()[0], {{}, {}}, 3, 8);
}

}  // namespace
}  // namespace spintag::fingerprint
