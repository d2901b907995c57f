// tests/unit/fingerprint/cuda_batch_matcher_test.cpp - whole searches on a CUDA device against the
// CPU: the same tracks, places and confidences, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fingerprint/batch_matcher.h"
#include "fingerprint/reference.h"
#include "tests/unit/cuda_test.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

constexpr double kSongSeconds = 20;

/// Five short songs, and clips of them: clean, noisy, two at once, and unknown music.
struct Material {
  Material() {
    for (std::uint32_t i = 0; i < 5; ++i) {
      audio.push_back(make_music(150 + i, kSongSeconds));
      prints.push_back(make_reference(peaks_of(audio.back())));
    }
    std::uint32_t seed = 1;
    for (const auto& song : audio) {
      add_clip(excerpt(song, 1.3 * seed, 5));
      auto noisy = excerpt(song, 6.2, 7);
      add_noise(noisy, seed++, 0.05);
      add_clip(noisy);
    }
    auto both = excerpt(audio[0], 3, 6);
    const auto second = excerpt(audio[1], 11, 6);
    for (std::size_t i = 0; i < both.size(); ++i) both[i] += second[i];
    add_clip(both);
    add_clip(make_music(999, 6));
    add_clip({});
    clips.push_back(clips[0]);  // a window of which only the middle is looked at
    lengths.push_back(lengths[0]);
    queries.push_back({clips.back(), 1.25, 4.5});
    for (std::size_t i = 0; i + 1 < clips.size(); ++i) {
      queries.insert(queries.end() - 1, {clips[i], 0, lengths[i]});
    }
  }
  void add_clip(const std::vector<float>& samples) {
    clips.push_back(peaks_of(samples));
    lengths.push_back(static_cast<double>(samples.size()) / kTestRateHz);
  }
  IndexTrack track(std::size_t i) const {
    return {static_cast<TrackId>(100 + i), kSongSeconds, prints[i], ""};
  }
  std::vector<IndexTrack> tracks(std::size_t first, std::size_t last) const {
    std::vector<IndexTrack> list;
    for (std::size_t i = first; i < last; ++i) list.push_back(track(i));
    return list;
  }
  static const Material& get() {
    static const Material material;
    return material;
  }

  std::vector<std::vector<float>> audio;
  std::vector<PackedPeaks> prints;
  std::vector<std::vector<Peak>> clips;
  std::vector<double> lengths;
  std::vector<MatchQuery> queries;
};

void expect_equal(const std::vector<std::vector<Alignment>>& found,
                  const std::vector<std::vector<Alignment>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t q = 0; q < found.size(); ++q) {
    ASSERT_EQ(found[q].size(), expected[q].size()) << "query " << q;
    for (std::size_t i = 0; i < found[q].size(); ++i) {
      const Alignment& a = found[q][i];
      const Alignment& b = expected[q][i];
      EXPECT_EQ(a.track_id, b.track_id) << "query " << q;
      EXPECT_EQ(a.track_start_s, b.track_start_s) << "query " << q;
      EXPECT_EQ(a.tempo, b.tempo) << "query " << q;
      EXPECT_EQ(a.pitch, b.pitch) << "query " << q;
      EXPECT_EQ(a.score, b.score) << "query " << q;
      EXPECT_EQ(a.confidence, b.confidence) << "query " << q;
      EXPECT_EQ(a.found_share, b.found_share) << "query " << q;
    }
  }
}

MatchOptions usual_speed() {
  MatchOptions options;
  options.any_speed = false;  // a thousand hypotheses take their time: a few windows ask them below
  return options;
}

class CudaBatchMatcher : public CudaTest {
 protected:
  void compare(const std::shared_ptr<const Index>& index,
               const MatchOptions& options = usual_speed()) {
    const auto& queries = Material::get().queries;
    expect_equal(on_device().match(index, queries, options),
                 BatchMatcher(cpu_).match(index, queries, options));
  }
  BatchMatcher& on_device() {
    if (!on_device_) on_device_.emplace(cuda_);
    return *on_device_;
  }

 private:
  std::optional<BatchMatcher> on_device_;
};

TEST_F(CudaBatchMatcher, FindsWhatTheCpuFinds) {
  const Material& material = Material::get();
  const auto index = Index::build(material.tracks(0, 5));
  const auto found = BatchMatcher(cuda_).match(index, material.queries, usual_speed());
  ASSERT_FALSE(found[0].empty());
  EXPECT_EQ(found[0][0].track_id, 100);
  EXPECT_NEAR(found[0][0].track_start_s, 1.3, 0.01);
  compare(index);
}

TEST_F(CudaBatchMatcher, ReportsDoubtfulOnesAlike) {
  MatchOptions options = usual_speed();
  options.min_confidence = 0;
  options.max_matches = 50;
  compare(Index::build(Material::get().tracks(0, 5)), options);
}

TEST_F(CudaBatchMatcher, TriesTheSameHypotheses) {
  MatchOptions options = usual_speed();
  options.hypotheses = {{1, 1}, {1.02, 1.02}, {0.97, 1}, {1, 1.01}};
  options.min_confidence = 0.5;
  compare(Index::build(Material::get().tracks(0, 5)), options);
}

TEST_F(CudaBatchMatcher, FollowsAnIndexThatChanges) {
  const Material& material = Material::get();
  auto index = Index::build(material.tracks(0, 3));
  compare(index);
  index = index->changed(material.tracks(3, 5), {});
  compare(index);
  const std::vector<TrackId> gone{100, 103};
  index = index->changed({}, gone);
  compare(index);
  compare(std::make_shared<const Index>());
}

TEST_F(CudaBatchMatcher, ManyWindowsAtOnceAreEachByItself) {
  const Material& material = Material::get();
  const auto index = Index::build(material.tracks(0, 5));
  std::vector<MatchQuery> many;
  for (int i = 0; i < 80; ++i) {
    many.insert(many.end(), material.queries.begin(), material.queries.end());
  }
  ASSERT_GT(many.size(), 1'024U);
  const auto all = on_device().match(index, many, usual_speed());
  const auto once = on_device().match(index, material.queries, usual_speed());
  for (std::size_t i = 0; i < all.size(); i += once.size()) {
    expect_equal({all.begin() + static_cast<std::ptrdiff_t>(i),
                  all.begin() + static_cast<std::ptrdiff_t>(i + once.size())},
                 once);
  }
}

/// One window leaves after the searches of the usual speed, one is found by those of all speeds,
/// one by none.
TEST_F(CudaBatchMatcher, SearchesAllSpeedsAsTheCpuDoes) {
  const Material& material = Material::get();
  const Hypothesis played{0.93, 1.09};
  const auto other_speed =
      peaks_of(excerpt(make_music(151, kSongSeconds, played), 4 / played.tempo, 4));
  const auto unknown = peaks_of(make_music(999, 2));
  const std::vector<MatchQuery> queries{
      {material.clips[0], 0, 3}, {other_speed, 0, 4}, {unknown, 0.2, 1.7}, {{}, 0, 4}};
  const auto index = Index::build(material.tracks(0, 2));
  MatchOptions options;
  options.min_confidence = 0;
  options.max_matches = 50;
  const auto found = on_device().match(index, queries, options);
  expect_equal(found, BatchMatcher(cpu_).match(index, queries, options));
  ASSERT_FALSE(found[1].empty());
  EXPECT_EQ(found[1][0].track_id, 101);
  EXPECT_NEAR(found[1][0].tempo, played.tempo, 0.002);
  EXPECT_NEAR(found[1][0].pitch, played.pitch, 0.002);
  EXPECT_GT(found[1][0].score, 20);
}

}  // namespace
}  // namespace spintag::fingerprint
