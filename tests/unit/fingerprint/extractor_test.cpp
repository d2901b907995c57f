// tests/unit/fingerprint/extractor_test.cpp - where peaks lie, and that cutting the input changes
// nothing.
#include "fingerprint/extractor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

void expect_same(const std::vector<Peak>& a, const std::vector<Peak>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].time_s, b[i].time_s) << i;
    EXPECT_EQ(a[i].freq_hz, b[i].freq_hz) << i;
    EXPECT_EQ(a[i].salience_db, b[i].salience_db) << i;
  }
}

/// A tone that swells and fades: its level is highest at centre_s.
void add_swell(std::vector<float>& samples, double freq_hz, double centre_s, double width_s,
               double level) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kTestRateHz;
    const double envelope = std::exp(-0.5 * std::pow((t - centre_s) / width_s, 2));
    samples[i] +=
        static_cast<float>(level * envelope * std::sin(2 * std::numbers::pi * freq_hz * t));
  }
}

TEST(PeakExtractor, CuttingTheInputChangesNothing) {
  const auto music = make_music(1, 9.7);
  const auto whole = peaks_of(music);
  ASSERT_GT(whole.size(), 300U);
  for (const std::uint32_t seed : {11U, 12U, 13U}) {
    std::mt19937 random(seed);
    PeakExtractor extractor;
    std::vector<Peak> cut;
    for (std::size_t at = 0; at < music.size();) {
      const std::size_t most = seed == 11 ? 7 : seed == 12 ? 700 : 40'000;
      const std::size_t count = std::min<std::size_t>(random() % most, music.size() - at);
      extractor.push(std::span(music).subspan(at, count), cut);
      at += count;
    }
    extractor.finish(cut);
    SCOPED_TRACE(seed);
    expect_same(whole, cut);
  }
}

TEST(PeakExtractor, APreviewIsWhatTheEndWouldGiveAndMovesNothing) {
  const auto music = make_music(2, 9.7);
  const std::span<const float> first = std::span(music).first(70'000);
  PeakExtractor extractor;
  std::vector<Peak> ended;
  extractor.push(first, ended);
  std::vector<Peak> previewed = ended;
  extractor.preview(previewed);
  EXPECT_GT(previewed.size(), ended.size());

  std::vector<Peak> whole = ended;
  extractor.push(std::span(music).subspan(first.size()), whole);
  extractor.finish(whole);
  expect_same(whole, peaks_of(music));

  PeakExtractor other;
  ended.clear();
  other.push(first, ended);
  other.finish(ended);
  expect_same(previewed, ended);
}

TEST(PeakExtractor, ResetStartsANewRecording) {
  const auto music = make_music(2, 6);
  PeakExtractor extractor;
  std::vector<Peak> peaks;
  extractor.push(make_music(3, 5), peaks);
  extractor.reset();
  peaks.clear();
  extractor.push(music, peaks);
  extractor.finish(peaks);
  expect_same(peaks_of(music), peaks);
}

TEST(PeakExtractor, ToneThatSwellsPeaksAtItsCentreAndFrequency) {
  for (const double freq : {440.0, 443.1, 1234.5, 4321.0}) {
    std::vector<float> samples(static_cast<std::size_t>(6 * kTestRateHz));
    add_noise(samples, 5, 1e-4);
    add_swell(samples, freq, 3.137, 0.05, 0.5);
    const auto peaks = peaks_of(samples);
    const auto strongest = std::max_element(
        peaks.begin(), peaks.end(),
        [](const Peak& a, const Peak& b) { return a.salience_db < b.salience_db; });
    ASSERT_NE(strongest, peaks.end());
    EXPECT_NEAR(strongest->freq_hz, freq, 0.5);    // a tenth of a bin
    EXPECT_NEAR(strongest->time_s, 3.137, 0.002);  // a tenth of a frame
  }
}

TEST(PeakExtractor, SecondsHoldAtMostTheProfilesDensity) {
  std::vector<float> noise(static_cast<std::size_t>(8 * kTestRateHz));
  add_noise(noise, 6, 0.1);
  std::map<int, int> in_second;
  for (const Peak& peak : peaks_of(noise)) ++in_second[static_cast<int>(peak.time_s)];
  ASSERT_EQ(in_second.size(), 8U);
  for (const auto& [second, count] : in_second)
    EXPECT_LE(count, Profile::dense_peaks_per_s) << second;
  EXPECT_EQ(in_second[3], Profile::dense_peaks_per_s);  // noise has more than enough
}

TEST(PeakExtractor, PeaksComeInOrderOfTime) {
  const auto peaks = peaks_of(make_music(4, 12));
  EXPECT_TRUE(std::is_sorted(peaks.begin(), peaks.end(),
                             [](const Peak& a, const Peak& b) { return a.time_s < b.time_s; }));
}

TEST(PeakExtractor, PeaksBeforeTheFinalTimeAreAllOut) {
  const auto music = make_music(5, 12);
  PeakExtractor extractor;
  std::vector<Peak> so_far;
  extractor.push(music, so_far);
  const double until = extractor.final_until_s();
  EXPECT_GT(until, 7.0);  // 12 s less the look-ahead of the whitening and the second in the works
  std::size_t before = 0;
  for (const Peak& peak : peaks_of(music)) before += peak.time_s < until ? 1 : 0;
  EXPECT_EQ(so_far.size(), before);
}

TEST(PeakExtractor, SilenceAndScrapsHoldNoPeaks) {
  EXPECT_TRUE(peaks_of(std::vector<float>(static_cast<std::size_t>(5 * kTestRateHz))).empty());
  EXPECT_TRUE(peaks_of({}).empty());
  EXPECT_TRUE(peaks_of(make_music(6, 0.1)).empty());  // shorter than a frame
}

TEST(PeakExtractor, LoudnessDoesNotMoveStrongPeaks) {
  auto music = make_music(7, 8);
  std::vector<Peak> strong;
  select_strongest(peaks_of(music), 0, 8, 30, strong);
  for (float& sample : music)
    sample *= 0.25F;  // exact in binary: only the floor of the level differs
  const auto quiet = peaks_of(music);
  std::size_t met = 0;
  for (const Peak& peak : strong) {
    met += std::any_of(quiet.begin(), quiet.end(), [&](const Peak& other) {
      return std::abs(other.time_s - peak.time_s) < 0.005 &&
             std::abs(other.freq_hz - peak.freq_hz) < 0.5;
    });
  }
  EXPECT_GE(strong.size(), 200U);
  EXPECT_GT(met, strong.size() * 97 / 100);
}

}  // namespace
}  // namespace spintag::fingerprint
