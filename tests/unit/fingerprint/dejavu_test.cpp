// tests/unit/fingerprint/dejavu_test.cpp - the dejavu profile by arithmetic, by law and by hand.
#include "fingerprint/dejavu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

namespace spintag::fingerprint {
namespace {

using kernels::Peak;

constexpr double kRateHz = DejavuProfile::rate_hz;

/// Notes that come and go over noise.
std::vector<float> notes(std::size_t samples, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 0.01F);
  std::uniform_real_distribution<double> octaves(0, 5);
  std::vector<float> out(samples);
  double freq_hz = 440;
  for (std::size_t n = 0; n < samples; ++n) {
    if (n % 9000 == 0) freq_hz = 110 * std::exp2(octaves(random));
    const double t = static_cast<double>(n) / kRateHz;
    const double tone = 0.3 * std::sin(2 * std::numbers::pi * freq_hz * t);
    out[n] = static_cast<float>(tone) + noise(random);
  }
  return out;
}

std::vector<std::vector<float>> spectrogram(const std::vector<float>& samples) {
  std::vector<std::vector<float>> frames;
  const auto keep = [&frames](std::span<const float> f) {
    frames.emplace_back(f.begin(), f.end());
  };
  DejavuSpectrogram stage;
  stage.push(samples, keep);
  stage.finish(keep);
  return frames;
}

std::vector<Peak> peaks_of(const std::vector<float>& samples, const DejavuProfile& profile = {}) {
  std::vector<Peak> peaks;
  DejavuPeakFinder finder(profile);
  finder.push(samples, peaks);
  finder.finish(peaks);
  return peaks;
}

TEST(DejavuSpectrogram, FullScaleSineReadsTheDensityOfSixteenBitSamples) {
  // |X| = A sum(w) / 2 on a bin centre, so the density is A^2 sum(w)^2 / (2 rate sum(w^2)), A =
  // 32768 counts. For the symmetric Hann window of N samples sum(w) = (N - 1) / 2 and sum(w^2) = 3
  // (N - 1) / 8.
  std::vector<float> sine(4096);
  for (std::size_t n = 0; n < sine.size(); ++n) {
    const double turns = static_cast<double>(n * 100 % 4096) / 4096;
    sine[n] = static_cast<float>(std::sin(2 * std::numbers::pi * turns));
  }
  const double density = 32768.0 * 32768.0 * (4095.0 / 3) / kRateHz;
  const auto frames = spectrogram(sine);
  ASSERT_EQ(frames.size(), 1U);
  ASSERT_EQ(frames[0].size(), 2049U);
  EXPECT_NEAR(frames[0][100], 10 * std::log10(density), 1e-3);
}

TEST(DejavuSpectrogram, EndsOfTheSpectrumAreNotDoubled) {
  const double density =
      32768.0 * 32768.0 * 4095 * 2 / 3 / kRateHz;  // of a constant 1: sum(w)^2 / sum(w^2)
  EXPECT_NEAR(spectrogram(std::vector<float>(4096, 1.0F))[0][0], 10 * std::log10(density), 1e-3);
  std::vector<float> alternating(4096);
  for (std::size_t n = 0; n < 4096; ++n) alternating[n] = n % 2 == 0 ? 1.0F : -1.0F;
  EXPECT_NEAR(spectrogram(alternating)[0][2048], 10 * std::log10(density), 1e-3);
}

TEST(DejavuSpectrogram, CountsFramesAsPublished) {
  EXPECT_EQ(spectrogram({}).size(), 0U);
  EXPECT_EQ(spectrogram(std::vector<float>(1, 0.5F)).size(), 1U) << "filled up with zeros";
  EXPECT_EQ(spectrogram(std::vector<float>(4096, 0.5F)).size(), 1U);
  EXPECT_EQ(spectrogram(std::vector<float>(4096 + 2047, 0.5F)).size(), 1U);
  EXPECT_EQ(spectrogram(std::vector<float>(4096 + 2048, 0.5F)).size(), 2U);
}

TEST(DejavuSpectrogram, FramesOverlapByHalf) {
  std::vector<float> samples(4096 + 3 * 2048);
  samples[5000] = 1;  // in frames 1 and 2 alone
  const auto frames = spectrogram(samples);
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_LT(frames[0][50], -300);
  EXPECT_GT(frames[1][50], 0);
  EXPECT_GT(frames[2][50], 0);
  EXPECT_LT(frames[3][50], -300);
}

TEST(DejavuPeakFinder, FindsAToneWhereItIs) {
  std::vector<float> samples(60 * 2048);
  for (std::size_t n = 20 * 2048; n < 24 * 2048; ++n) {
    samples[n] = static_cast<float>(
        0.5 * std::sin(2 * std::numbers::pi * 300 * static_cast<double>(n) / 4096));
  }
  const std::vector<Peak> peaks = peaks_of(samples);
  ASSERT_FALSE(peaks.empty());
  const Peak loudest =
      *std::max_element(peaks.begin(), peaks.end(),
                        [](const Peak& a, const Peak& b) { return a.level_db < b.level_db; });
  EXPECT_EQ(loudest.bin, 300U);
  EXPECT_GE(loudest.frame, 20U);
  EXPECT_LE(loudest.frame, 22U);
}

TEST(DejavuPeakFinder, SilenceHasNoPeaks) {
  EXPECT_TRUE(peaks_of({}).empty());
  EXPECT_TRUE(peaks_of(std::vector<float>(100000)).empty());
}

TEST(DejavuPeakFinder, HowTheInputIsCutChangesNothing) {
  const std::vector<float> samples = notes(3 * 44100 + 777, 1);
  for (const std::size_t radius : {1U, 10U, 20U}) {
    const DejavuProfile profile{.radius = radius};
    const std::vector<Peak> whole = peaks_of(samples, profile);
    ASSERT_GT(whole.size(), 10U);
    EXPECT_TRUE(std::is_sorted(whole.begin(), whole.end(), [](const Peak& a, const Peak& b) {
      return std::pair(a.frame, a.bin) < std::pair(b.frame, b.bin);
    }));
    DejavuPeakFinder finder(profile);
    for (unsigned seed = 1; seed <= 4; ++seed) {
      std::mt19937 random(seed);
      std::geometric_distribution<std::size_t> length(seed % 2 == 0 ? 1e-4 : 0.01);
      std::vector<Peak> peaks;
      for (std::size_t at = 0; at < samples.size();) {
        const std::size_t count = std::min(length(random), samples.size() - at);
        finder.push(std::span(samples).subspan(at, count), peaks);
        at += count;
      }
      finder.finish(peaks);
      EXPECT_EQ(peaks, whole) << "radius " << radius << " seed " << seed;
      finder.reset();
    }
  }
}

TEST(DejavuPeakFinder, PeaksComeRadiusFramesLater) {
  const std::vector<float> samples = notes(50 * 2048, 2);
  const std::vector<Peak> whole = peaks_of(samples);
  DejavuPeakFinder finder;
  std::vector<Peak> peaks;
  for (std::size_t hops = 1; hops <= 50; ++hops) {
    finder.push(std::span(samples).subspan((hops - 1) * 2048, 2048), peaks);
    // So many hops make hops - 1 frames.
    const auto known = std::count_if(whole.begin(), whole.end(),
                                     [hops](const Peak& p) { return p.frame + 10 < hops - 1; });
    EXPECT_EQ(peaks.size(), static_cast<std::size_t>(known));
  }
}

TEST(DejavuPeakFinder, FloorBelowZeroIsRefused) {
  EXPECT_THROW(DejavuPeakFinder({.floor_db = -1}), std::invalid_argument);
}

TEST(DejavuLandmarks, HandExample) {
  const std::vector<Peak> peaks{{0, 5, 20}, {0, 9, 20}, {200, 7, 20}, {201, 1, 20}};
  EXPECT_EQ(dejavu_landmarks(peaks),
            (std::vector<DejavuLandmark>{{0, 5, 9, 0},    // the same frame counts
                                         {0, 5, 7, 200},  // 200 frames are near enough, 201 are not
                                         {0, 9, 7, 200},
                                         {200, 7, 1, 1}}));
}

TEST(DejavuLandmarks, FanOutOfFifteenPairsWithTheNextFourteen) {
  std::vector<Peak> peaks;
  for (std::uint32_t i = 0; i < 100; ++i) peaks.push_back({i, i, 20});
  EXPECT_EQ(dejavu_landmarks(peaks).size(), 86U * 14U + 13U * 14U / 2U);
  EXPECT_EQ(dejavu_landmarks(peaks, {.fan_out = 2}).size(), 99U);
  EXPECT_TRUE(dejavu_landmarks(peaks, {.fan_out = 1}).empty());
  EXPECT_TRUE(dejavu_landmarks(peaks, {.fan_out = 0}).empty());
  EXPECT_TRUE(dejavu_landmarks({}).empty());
}

TEST(DejavuLandmarks, HashHoldsBothBinsAndTheTimeBetween) {
  const DejavuLandmark landmark{.frame = 77, .bin = 2048, .next_bin = 2047, .dt_frames = 200};
  EXPECT_EQ(landmark.hash() >> 20U, 2048U);
  EXPECT_EQ(landmark.hash() >> 8U & 0xFFFU, 2047U);
  EXPECT_EQ(landmark.hash() & 0xFFU, 200U);
}

}  // namespace
}  // namespace spintag::fingerprint
