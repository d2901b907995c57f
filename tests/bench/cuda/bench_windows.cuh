// tests/bench/cuda/bench_windows.cuh - many windows of something like music in device memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/stft.cuh"
#include "tests/bench/cuda/bench.cuh"

namespace spintag::bench {

constexpr double kWindowRateHz = 11025;

/// Decaying notes of six harmonics, eight a second, over noise.
inline std::vector<float> make_notes(std::size_t samples) {
  constexpr std::uint32_t kSeed = 1;
  std::mt19937 random(kSeed);
  const auto uniform = [&random](double low, double high) {
    return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
  };
  std::vector<float> music(samples);
  for (float& sample : music) sample = static_cast<float>(uniform(-0.004, 0.004));
  const auto mean_gap = static_cast<std::size_t>(kWindowRateHz / 8);
  for (std::size_t start = 0; start < samples; start += 1 + random() % (2 * mean_gap)) {
    const double freq = 110.0 * std::exp2(std::floor(uniform(0, 40)) / 12.0);
    const double level = uniform(0.03, 0.12);
    const double decay = std::exp(-uniform(3, 9) / kWindowRateHz);
    for (int harmonic = 1; harmonic <= 6; ++harmonic) {
      const double step = 2 * std::numbers::pi * harmonic * freq / kWindowRateHz;
      double re = level / harmonic;  // turns by `step` and shrinks by `decay` each sample
      double im = 0;
      const std::size_t end = std::min(samples, start + 8820);
      for (std::size_t i = start; i < end; ++i) {
        music[i] += static_cast<float>(im);
        const double next = decay * (re * std::cos(step) - im * std::sin(step));
        im = decay * (re * std::sin(step) + im * std::cos(step));
        re = next;
      }
    }
  }
  return music;
}

/// 256 windows of a minute, each from another place of the same music; a few short ones if quick.
struct BenchWindows {
  explicit BenchWindows(const Bench& bench) {
    const std::size_t count = bench.quick() ? 6 : 256;
    const std::size_t samples = static_cast<std::size_t>(kWindowRateHz) * (bench.quick() ? 7 : 60);
    seconds = static_cast<double>(count * samples) / kWindowRateHz;
    const std::vector<float> music = make_notes(2 * samples);
    const std::size_t stride = (samples + 1) / 2 * 2;
    array = kernels::cuda::Array<float>(bench.context(), count * stride);
    for (std::size_t w = 0; w < count; ++w) {
      places.push_back({.begin = w * stride, .samples = samples});
      bench.context()->check(
          cudaMemcpyAsync(array.data() + w * stride, music.data() + samples * w / count,
                          samples * sizeof(float), cudaMemcpyHostToDevice,
                          bench.context()->stream()),
          "copying to the device");
    }
    bench.context()->synchronize();
    size = std::to_string(count) + " x " + std::to_string(samples) + " samples";
  }

  kernels::cuda::Array<float> array;
  std::vector<kernels::cuda::SignalPlace> places;
  double seconds = 0;
  std::string size;
};

/// "1234567 times real time"
inline std::string times_real_time(double seconds, double ms) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f times real time", seconds / (ms * 1e-3));
  return text;
}

}  // namespace spintag::bench
