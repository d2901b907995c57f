// tests/unit/kernels/cuda_stft_test.cpp - power spectra from a CUDA device.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/decibels.h"
#include "kernels/stft.h"
#include "tests/unit/cuda_test.h"

namespace spintag::kernels {
namespace {

constexpr std::size_t kSizes[] = {256, 512, 1024, 2048, 4096, 8192};

std::vector<float> noise(std::uint32_t seed, std::size_t samples) {
  std::mt19937 random(seed);
  std::vector<float> signal(samples);
  for (float& sample : signal) sample = static_cast<float>(random()) * 0x1p-31F - 1.0F;
  return signal;
}

std::vector<float> sine(double cycles_per_sample, std::size_t samples, double amplitude = 1) {
  std::vector<float> signal(samples);
  for (std::size_t n = 0; n < samples; ++n) {
    signal[n] = static_cast<float>(
        amplitude * std::sin(2 * std::numbers::pi * cycles_per_sample * static_cast<double>(n)));
  }
  return signal;
}

/// Largest difference of two spectrograms over the largest power.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  double off = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
    off = std::max(off, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest == 0 ? off : off / largest;
}

class CudaStft : public CudaTest {
 protected:
  std::vector<float> on_cuda(const StftParams& params, const std::vector<float>& signal) {
    const std::span<const float> view(signal);
    return power_spectrogram(cuda_, params, {&view, 1});
  }

  /// Both round: log2(N) steps of half a unit in the last place each, 6e-8, grow like their root
  /// and are doubled by the square, which is 4e-7 of the largest power. Noise peaks at several
  /// times its mean power.
  void expect_twins(const StftParams& params, const std::vector<std::vector<float>>& signals) {
    const std::vector<std::span<const float>> views(signals.begin(), signals.end());
    const auto expected = power_spectrogram(cpu_, params, views);
    const auto power = power_spectrogram(cuda_, params, views);
    ASSERT_EQ(power.size(), expected.size());
    EXPECT_LT(difference(expected, power), 1e-6);
  }
};

TEST_F(CudaStft, SineOnABinCentreHasPowerOneThereAndAQuarterBeside) {
  for (const std::size_t size : kSizes) {
    SCOPED_TRACE(size);
    StftParams params{.frame_samples = size, .hop_samples = size / 4, .bins = size / 2 + 1};
    for (const std::size_t bin : {std::size_t{2}, size / 8 + 1, size / 4, size / 2 - 2}) {
      SCOPED_TRACE(bin);
      const auto power =
          on_cuda(params, sine(static_cast<double>(bin) / static_cast<double>(size), 2 * size));
      ASSERT_EQ(power.size(), 5 * params.bins);
      for (std::size_t frame = 0; frame < 5; ++frame) {
        for (std::size_t k = 0; k < params.bins; ++k) {
          const double expected = k == bin ? 1 : k + 1 == bin || k == bin + 1 ? 0.25 : 0;
          ASSERT_NEAR(power[frame * params.bins + k], expected, 2e-6) << "bin " << k;
        }
      }
    }
  }
}

TEST_F(CudaStft, PowersAddUpToThoseOfTheSamples) {  // Parseval
  for (const std::size_t size : kSizes) {
    SCOPED_TRACE(size);
    const auto signal = noise(7, size);
    double expected = 0;
    for (std::size_t n = 0; n < size; ++n) {
      const double w = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(n) /
                                            static_cast<double>(size));
      expected += std::pow(w * signal[n], 2);
    }
    const auto power =
        on_cuda({.frame_samples = size, .bins = size / 2 + 1, .scale = PowerScale::kRaw}, signal);
    double sum = power.front() + power.back();
    for (std::size_t k = 1; k < size / 2; ++k) sum += 2.0 * power[k];
    EXPECT_NEAR(sum / static_cast<double>(size) / expected, 1, 1e-5);
  }
}

TEST_F(CudaStft, EqualsTheProcessorInEverySize) {
  for (const std::size_t size : kSizes) {
    SCOPED_TRACE(size);
    expect_twins({.frame_samples = size, .hop_samples = size / 8, .bins = size / 2 + 1},
                 {noise(1, 5 * size + 3)});
  }
}

TEST_F(CudaStft, EqualsTheProcessorWithEveryOption) {
  const std::vector<std::vector<float>> signals = {noise(2, 9000), noise(3, 5001)};
  for (const HannWindow window : {HannWindow::kPeriodic, HannWindow::kSymmetric}) {
    for (const PowerScale scale :
         {PowerScale::kRaw, PowerScale::kFullScaleSine, PowerScale::kDensity}) {
      for (const std::size_t first : {0U, 1U, 500U, 1024U}) {
        for (const std::size_t bins : {std::size_t{1}, std::size_t{300}, 1025 - first}) {
          if (first + bins > 1025) continue;
          SCOPED_TRACE(testing::Message() << "first " << first << ", bins " << bins);
          expect_twins(
              {.first_bin = first, .bins = bins, .window = window, .scale = scale, .gain = 3.5},
              signals);
        }
      }
    }
  }
}

TEST_F(CudaStft, UnevenBatchesAndOddHopsEqualTheProcessor) {
  const std::vector<std::vector<float>> signals = {noise(1, 2047),   noise(2, 2048), {},
                                                   noise(3, 40'001), noise(4, 1),    noise(5, 2049),
                                                   noise(6, 10'007)};
  for (const std::size_t hop : {1U, 255U, 256U, 3000U}) {
    SCOPED_TRACE(hop);
    auto some = signals;
    if (hop == 1) some[3].resize(2300);
    expect_twins({.hop_samples = hop, .bins = 1025}, some);
  }
}

TEST_F(CudaStft, NothingInNothingOut) {
  EXPECT_TRUE(power_spectrogram(cuda_, {}, {}).empty());
  EXPECT_TRUE(on_cuda({}, noise(1, 2047)).empty());
  EXPECT_TRUE(on_cuda({.bins = 0}, noise(1, 4000)).empty());
}

TEST_F(CudaStft, LevelsAreTheDecibelsOfThePowersToTheBit) {
  auto signal = noise(21, 300'000);
  for (std::size_t n = 0; n < signal.size(); ++n) {
    signal[n] *= std::exp2(-static_cast<float>(n / 10'000));  // down to nothing but the offset
  }
  const std::span<const float> view(signal);
  for (const float offset : {0.0F, 3.16227766e-8F}) {
    auto expected = on_cuda({}, signal);
    power_to_db(expected, offset, expected);
    EXPECT_EQ(level_spectrogram(cuda_, {}, offset, {&view, 1}), expected);
  }
}

TEST_F(CudaStft, AFrameByItselfIsTheSameInAnyBatch) {
  const auto signal = noise(9, 2048 + 100 * 256);
  const auto all = on_cuda({}, signal);
  for (const std::size_t frame : {0U, 1U, 37U, 100U}) {
    const auto begin = signal.begin() + static_cast<std::ptrdiff_t>(256 * frame);
    const auto alone = on_cuda({}, {begin, begin + 2048});
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(1025 * frame)));
  }
}

TEST_F(CudaStft, SilenceHasNoPower) {
  for (const float power : on_cuda({}, std::vector<float>(6000))) ASSERT_EQ(power, 0.0F);
}

TEST_F(CudaStft, RefusesFramesThatItHasNoKernelFor) {
  for (const std::size_t size : {128U, 1000U, 3072U, 16384U}) {
    EXPECT_THROW(on_cuda({.frame_samples = size, .bins = 10}, noise(1, 20'000)),
                 std::invalid_argument);
  }
  EXPECT_THROW(on_cuda({.hop_samples = 0}, noise(1, 4000)), std::invalid_argument);
  EXPECT_THROW(on_cuda({.first_bin = 1, .bins = 1025}, noise(1, 4000)), std::invalid_argument);
  EXPECT_EQ(on_cuda({}, noise(1, 2048)).size(), 1025U);  // and goes on
}

TEST(Decibels, RatioIsTheQuotientOfEveryMantissa) {  // on this processor; a device rounds alike
  for (std::uint32_t bits = 0x3F3504F3U; bits <= 0x3FB504F4U; ++bits) {
    const auto m = std::bit_cast<float>(bits);
    if (ratio_of_mantissa(m) != (m - 1.0F) / (m + 1.0F)) FAIL() << std::hexfloat << m;
  }
}

TEST(Decibels, EqualPowerToDbToTheBit) {
  std::vector<float> powers = {0.0F, -0.0F, -1.0F, 1e-45F, 1.17549435e-38F, 3e38F, NAN, INFINITY};
  for (std::uint64_t bits = 0; bits < 0x7F800000U; bits += 1021) {
    powers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (const float offset : {0.0F, 3.16227766e-8F}) {
    std::vector<float> expected(powers.size());
    power_to_db(powers, offset, expected);
    for (std::size_t i = 0; i < powers.size(); ++i) {
      const float level = decibels(powers[i], offset);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(level), std::bit_cast<std::uint32_t>(expected[i]))
          << powers[i];
    }
  }
}

}  // namespace
}  // namespace spintag::kernels
