// tests/unit/kernels/stft_test.cpp - power spectra and decibels against arithmetic and a direct
// transform.
#include "kernels/stft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace spintag::kernels {
namespace {

constexpr double kPi = std::numbers::pi;

std::vector<float> noise(std::size_t samples, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> out(samples);
  for (float& x : out) x = value(random);
  return out;
}

std::vector<float> sine(double bin, std::size_t frame_samples, std::size_t samples) {
  std::vector<float> out(samples);
  for (std::size_t n = 0; n < samples; ++n) {
    const double turns = bin * static_cast<double>(n) / static_cast<double>(frame_samples);
    out[n] = static_cast<float>(std::sin(2 * kPi * turns));
  }
  return out;
}

double window_value(HannWindow window, std::size_t n, std::size_t samples) {
  const double period =
      static_cast<double>(window == HannWindow::kPeriodic ? samples : samples - 1);
  return 0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(n) / period);
}

/// |sum over n of w(n) x(n) exp(-2 pi i n k / N)|^2, by the definition.
double direct_power(const float* frame, std::size_t samples, std::size_t bin, HannWindow window) {
  std::complex<double> sum = 0;
  for (std::size_t n = 0; n < samples; ++n) {
    const double turns = static_cast<double>(n * bin % samples) / static_cast<double>(samples);
    sum += window_value(window, n, samples) * frame[n] * std::polar(1.0, -2 * kPi * turns);
  }
  return std::norm(sum);
}

std::vector<float> one_frame(const StftParams& params, const std::vector<float>& samples) {
  Stft stft(params);
  std::vector<float> power(params.bins);
  stft.power_spectrum(samples.data(), power.data());
  return power;
}

TEST(Stft, HandExampleOfFourSamples) {
  // Periodic Hann of 4: 0, 1/2, 1, 1/2. Samples 7, 2, 3, 4 -> 0, 1, 3, 2: X = 6, -3 + i, 0.
  const std::vector<float> power = one_frame(
      {.frame_samples = 4, .hop_samples = 1, .bins = 3, .scale = PowerScale::kRaw}, {7, 2, 3, 4});
  EXPECT_FLOAT_EQ(power[0], 36);
  EXPECT_FLOAT_EQ(power[1], 10);
  EXPECT_NEAR(power[2], 0, 1e-6);
}

TEST(Stft, EqualsTheDefinition) {
  for (const std::size_t size : {4U, 6U, 16U, 100U, 2048U, 4096U}) {
    for (const HannWindow window : {HannWindow::kPeriodic, HannWindow::kSymmetric}) {
      const std::vector<float> samples = noise(size, static_cast<unsigned>(size));
      const StftParams params{
          .frame_samples = size, .bins = size / 2 + 1, .window = window, .scale = PowerScale::kRaw};
      const std::vector<float> power = one_frame(params, samples);
      const std::size_t step = size > 1000 ? 37 : 1;  // the definition is slow
      for (std::size_t k = 0; k < power.size(); k += step) {
        const double expected = direct_power(samples.data(), size, k, window);
        // Rounding of a float FFT: some 1e-7 of the frame's whole energy, here about size / 8.
        EXPECT_NEAR(power[k], expected, 1e-6 * (static_cast<double>(size) + expected))
            << "size " << size << " bin " << k;
      }
    }
  }
}

TEST(Stft, SineOnBinCentrePeaksThere) {
  const StftParams params{.frame_samples = 2048, .hop_samples = 256, .bins = 1025};
  Stft stft(params);
  const std::vector<float> tone = sine(7, 2048, 3 * 2048);
  std::vector<float> power(stft.frame_count(tone.size()) * params.bins);
  ASSERT_EQ(stft.frames(tone, power), 17U);
  for (std::size_t frame = 0; frame < 17; ++frame) {
    const auto begin = power.begin() + static_cast<std::ptrdiff_t>(frame * params.bins);
    EXPECT_EQ(std::max_element(begin, begin + 1025) - begin, 7);
  }
}

TEST(Stft, FullScaleSineHasPowerOne) {
  for (const HannWindow window : {HannWindow::kPeriodic, HannWindow::kSymmetric}) {
    const std::vector<float> power =
        one_frame({.frame_samples = 2048, .bins = 1025, .window = window}, sine(100, 2048, 2048));
    EXPECT_NEAR(power[100], 1, 1e-5);
    EXPECT_NEAR(power[101], 0.25, 1e-3) << "a Hann window leaks half the amplitude to each side";
    EXPECT_NEAR(power[110], 0, 1e-6);
  }
}

TEST(Stft, DensitySumsToTheMeanSquareOfTheSignal) {
  // One-sided density over all bins of width 1/N: sum / N is the mean of (w x)^2 over the mean of
  // w^2 (Parseval).
  const std::vector<float> samples = noise(512, 5);
  const std::vector<float> power =
      one_frame({.frame_samples = 512, .bins = 257, .scale = PowerScale::kDensity}, samples);
  double total = 0;
  for (const float p : power) total += p / 512;
  double weighted = 0;
  double squares = 0;
  for (std::size_t n = 0; n < 512; ++n) {
    const double w = window_value(HannWindow::kPeriodic, n, 512);
    weighted += w * w * samples[n] * samples[n];
    squares += w * w;
  }
  EXPECT_NEAR(total, weighted / squares, 1e-5);
}

TEST(Stft, GainMultipliesEveryPower) {
  const std::vector<float> samples = noise(256, 9);
  const std::vector<float> one = one_frame({.frame_samples = 256, .bins = 129}, samples);
  const std::vector<float> four =
      one_frame({.frame_samples = 256, .bins = 129, .gain = 4}, samples);
  for (std::size_t k = 0; k < 129; ++k) EXPECT_FLOAT_EQ(four[k], 4 * one[k]);
}

TEST(Stft, PartOfTheBinsIsThatPart) {
  const std::vector<float> samples = noise(1024, 1);
  const std::vector<float> all = one_frame({.frame_samples = 1024, .bins = 513}, samples);
  for (const std::size_t first : {0U, 1U, 38U, 500U, 512U}) {
    for (const std::size_t bins : {std::size_t{0}, std::size_t{1}, 513 - std::size_t{first}}) {
      const std::vector<float> part =
          one_frame({.frame_samples = 1024, .first_bin = first, .bins = bins}, samples);
      for (std::size_t k = 0; k < bins; ++k) EXPECT_FLOAT_EQ(part[k], all[first + k]);
    }
  }
}

TEST(Stft, BatchEqualsFrameByFrameAndIgnoresTheRest) {
  const StftParams params{.frame_samples = 256, .hop_samples = 100, .bins = 129};
  Stft stft(params);
  const std::vector<float> samples = noise(256 + 4 * 100 + 99, 2);
  ASSERT_EQ(stft.frame_count(samples.size()), 5U);
  std::vector<float> batch(5 * params.bins);
  ASSERT_EQ(stft.frames(samples, batch), 5U);
  std::vector<float> single(params.bins);
  for (std::size_t i = 0; i < 5; ++i) {
    stft.power_spectrum(samples.data() + i * 100, single.data());
    for (std::size_t k = 0; k < params.bins; ++k) EXPECT_EQ(single[k], batch[i * 129 + k]);
  }
}

TEST(Stft, LessThanAFrameIsNoFrame) {
  Stft stft({.frame_samples = 256, .hop_samples = 100, .bins = 129});
  EXPECT_EQ(stft.frame_count(0), 0U);
  EXPECT_EQ(stft.frame_count(255), 0U);
  EXPECT_EQ(stft.frame_count(256), 1U);
  EXPECT_EQ(stft.frames({}, {}), 0U);
}

TEST(Stft, WrongParametersAreRefusedAndTheObjectStaysUsable) {
  EXPECT_THROW(Stft({.frame_samples = 0}), std::invalid_argument);
  EXPECT_THROW(Stft({.frame_samples = 2047}), std::invalid_argument);
  EXPECT_THROW(Stft({.hop_samples = 0}), std::invalid_argument);
  EXPECT_THROW(Stft({.frame_samples = 2048, .first_bin = 1, .bins = 1025}), std::invalid_argument);
  EXPECT_THROW(Stft({.frame_samples = 2048, .first_bin = 1026, .bins = 0}), std::invalid_argument);

  Stft stft({.frame_samples = 8, .hop_samples = 4, .bins = 5});
  std::vector<float> power(2 * 5);
  EXPECT_THROW(stft.frames(std::vector<float>(16, 1.0F), power), std::invalid_argument);
  EXPECT_EQ(stft.frames(std::vector<float>(12, 1.0F), power), 2U);
}

TEST(Stft, ManyThreadsMayMakeTheirOwn) {
  const std::vector<float> samples = noise(2048, 3);
  const std::vector<float> expected = one_frame({}, samples);
  std::vector<std::vector<float>> results(8);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&result, &samples] {
        for (int i = 0; i < 20; ++i) result = one_frame({}, samples);
      });
    }
  }
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST(PowerToDb, IsWithinTheStatedErrorOverTheWholeRange) {
  std::vector<float> power;
  for (int e = -126; e <= 127; ++e) {
    for (int i = 0; i < 1000; ++i)
      power.push_back(std::ldexp(1.0F + static_cast<float>(i) / 1000, e));
  }
  power.push_back(std::numeric_limits<float>::max());
  std::vector<float> db(power.size());
  power_to_db(power, 0, db);
  double worst = 0;
  for (std::size_t i = 0; i < power.size(); ++i) {
    worst = std::max(worst, std::abs(db[i] - 10 * std::log10(static_cast<double>(power[i]))));
  }
  EXPECT_LT(worst, 1e-4);
  EXPECT_GT(worst, 0) << "the reference is computed otherwise";
}

TEST(PowerToDb, IsFinerWhereMusicIs) {
  // From -120 to +120 dB the rounding of the result itself is 4e-6.
  std::vector<float> power;
  for (int i = 0; i < 240000; ++i) {
    power.push_back(static_cast<float>(std::pow(10.0, (i / 1000.0 - 120) / 10)));
  }
  std::vector<float> db(power.size());
  power_to_db(power, 0, db);
  for (std::size_t i = 0; i < power.size(); ++i) {
    ASSERT_NEAR(db[i], 10 * std::log10(static_cast<double>(power[i])), 3e-5) << power[i];
  }
}

TEST(PowerToDb, OffsetIsAddedToThePower) {
  std::vector<float> db(2);
  power_to_db(std::vector<float>{0.0F, 0.9F}, 0.1F, db);
  EXPECT_NEAR(db[0], -10, 1e-5);
  EXPECT_NEAR(db[1], 0, 1e-5);
}

TEST(PowerToDb, EveryResultIsFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values{0.0F, -1.0F, 1e-42F, nan, inf, std::numeric_limits<float>::max()};
  power_to_db(values, 0, values);  // in place
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], -379.297, 1e-3);
  for (std::size_t i = 4; i < 6; ++i) EXPECT_NEAR(values[i], 385.318, 1e-3);
}

TEST(PowerToDb, EveryLengthGivesTheSameValues) {
  const std::vector<float> power = noise(67, 4);
  std::vector<float> all(67);
  power_to_db(power, 1.5F, all);
  for (std::size_t n = 0; n <= 67; ++n) {
    std::vector<float> part(n);
    power_to_db(std::span(power).first(n), 1.5F, part);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(part[i], all[i]);
  }
}

TEST(PowerToDb, WorksInPlace) {
  const std::vector<float> power = noise(1025, 6);
  std::vector<float> elsewhere(1025);
  power_to_db(power, 1, elsewhere);
  std::vector<float> in_place = power;
  power_to_db(in_place, 1, in_place);
  EXPECT_EQ(in_place, elsewhere);
}

}  // namespace
}  // namespace spintag::kernels
