// tests/bench/kernels_bench.cpp - what a cell and a second of audio cost in kernels/ on one core.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/peaks.h"
#include "kernels/sliding_max.h"
#include "kernels/stft.h"

namespace spintag::kernels {
namespace {

/// The two spectrograms that profiles use: rate, frame, hop.
struct Clock {
  double rate_hz;
  std::size_t frame_samples;
  std::size_t hop_samples;

  std::size_t bins() const { return frame_samples / 2 + 1; }
  double seconds(std::size_t frames) const {
    return static_cast<double>(frames * hop_samples) / rate_hz;
  }
};
constexpr Clock kDejavu{44100, 4096, 2048};
constexpr Clock kBroadcast{11025, 2048, 256};

constexpr std::size_t kFrames = 430;  ///< 20 s of dejavu, 10 s of broadcast

/// Three decaying notes a second over pink-like noise: peaks about as dense as in music.
std::vector<float> audio(const Clock& clock, std::size_t samples) {
  std::mt19937 random(1);
  std::normal_distribution<float> white(0, 0.02F);
  std::vector<float> out(samples);
  float pink = 0;
  for (std::size_t n = 0; n < samples; ++n) {
    const double t = static_cast<double>(n) / clock.rate_hz;
    const double beat = t * 3 - std::floor(t * 3);
    const double note = 220 * std::pow(2.0, std::fmod(std::floor(t * 3) * 7, 24) / 12);
    double tone = 0;
    for (int h = 1; h <= 8; ++h) tone += std::sin(2 * 3.14159265358979 * note * h * t) / h;
    pink += 0.05F * (white(random) - pink);
    out[n] = static_cast<float>(0.3 * tone * std::exp(-3 * beat)) + pink + 0.1F * white(random);
  }
  return out;
}

const std::vector<float>& spectrogram_db(const Clock& clock) {
  static const auto make = [](const Clock& c) {
    Stft stft({.frame_samples = c.frame_samples,
               .hop_samples = c.hop_samples,
               .bins = c.bins(),
               .scale = PowerScale::kDensity,
               .gain = 32768.0 * 32768.0 / c.rate_hz});
    const std::vector<float> samples = audio(c, c.frame_samples + (kFrames - 1) * c.hop_samples);
    std::vector<float> cells(kFrames * c.bins());
    stft.frames(samples, cells);
    power_to_db(cells, 0, cells);
    return cells;
  };
  static const std::vector<float> dejavu = make(kDejavu);
  static const std::vector<float> broadcast = make(kBroadcast);
  return clock.hop_samples == kDejavu.hop_samples ? dejavu : broadcast;
}

void count(benchmark::State& state, const Clock& clock, std::size_t frames) {
  const double runs = static_cast<double>(state.iterations());
  state.counters["cells/s"] = benchmark::Counter(runs * static_cast<double>(frames * clock.bins()),
                                                 benchmark::Counter::kIsRate);
  state.counters["x_real_time"] =
      benchmark::Counter(runs * clock.seconds(frames), benchmark::Counter::kIsRate);
}

void stft(benchmark::State& state, const Clock& clock) {
  Stft transform({.frame_samples = clock.frame_samples,
                  .hop_samples = clock.hop_samples,
                  .bins = clock.bins()});
  const std::vector<float> samples =
      audio(clock, clock.frame_samples + (kFrames - 1) * clock.hop_samples);
  std::vector<float> power(kFrames * clock.bins());
  for (auto _ : state) {
    transform.frames(samples, power);
    benchmark::DoNotOptimize(power.data());
    benchmark::ClobberMemory();
  }
  count(state, clock, kFrames);
}
BENCHMARK_CAPTURE(stft, dejavu, kDejavu);
BENCHMARK_CAPTURE(stft, broadcast, kBroadcast);

void decibels(benchmark::State& state) {
  std::vector<float> power(kBroadcast.bins(), 0.25F);  // one frame at a time, as it is used
  std::vector<float> db(power.size());
  for (auto _ : state) {
    power_to_db(power, 3e-8F, db);
    benchmark::DoNotOptimize(db.data());
    benchmark::ClobberMemory();
  }
  count(state, kBroadcast, 1);
}
BENCHMARK(decibels);

void maxima(benchmark::State& state, const Clock& clock, const Footprint& footprint) {
  Device device = Device::cpu();
  const std::vector<float>& cells = spectrogram_db(clock);
  std::vector<float> out(cells.size());
  for (auto _ : state) {
    sliding_max(device, {cells.data(), kFrames, clock.bins()}, footprint, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count(state, clock, kFrames);
}

/// The diamond again, as a general footprint.
Footprint masked_diamond(std::size_t radius) {
  const Footprint diamond = Footprint::diamond(radius);
  std::vector<std::uint8_t> cells;
  for (std::size_t f = 0; f < diamond.frames(); ++f) {
    for (std::size_t b = 0; b < diamond.bins(); ++b) cells.push_back(diamond.contains(f, b));
  }
  return Footprint::mask(cells, diamond.frames(), diamond.bins());
}

void sliding_max_diamond(benchmark::State& state) {
  maxima(state, kDejavu, Footprint::diamond(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(sliding_max_diamond)->Arg(5)->Arg(10)->Arg(20)->Arg(40);

void sliding_max_box(benchmark::State& state) {
  const auto radius = static_cast<std::size_t>(state.range(0));
  maxima(state, kDejavu, Footprint::box(radius, radius));
}
BENCHMARK(sliding_max_box)->Arg(5)->Arg(10)->Arg(20)->Arg(40);

void sliding_max_general(benchmark::State& state) {
  maxima(state, kDejavu, masked_diamond(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(sliding_max_general)->Arg(5)->Arg(10)->Arg(20);

void sliding_max_broadcast_box(benchmark::State& state) {
  maxima(state, kBroadcast, Footprint::box(2, 3));
}
BENCHMARK(sliding_max_broadcast_box);

void peaks(benchmark::State& state) {
  Device device = Device::cpu();
  const std::vector<float>& cells = spectrogram_db(kDejavu);
  const PeakParams params{.footprint =
                              Footprint::diamond(static_cast<std::size_t>(state.range(0)))};
  std::size_t found = 0;
  for (auto _ : state) {
    found = find_peaks(device, {cells.data(), kFrames, kDejavu.bins()}, params).size();
  }
  count(state, kDejavu, kFrames);
  state.counters["peaks/s_audio"] = static_cast<double>(found) / kDejavu.seconds(kFrames);
}
BENCHMARK(peaks)->Arg(5)->Arg(10)->Arg(20);

}  // namespace
}  // namespace spintag::kernels
