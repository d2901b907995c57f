// tests/unit/fingerprint/test_music.h - music-like recordings made on the spot, the same for a seed
// on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "fingerprint/extractor.h"
#include "fingerprint/heard.h"
#include "fingerprint/peak.h"

namespace spintag::fingerprint {

inline constexpr double kTestRateHz = 11025;

/// Notes of three voices with harmonics and decay over a little noise; full scale = 1.
/// @param seconds  at the tempo that the notes are written in
/// @param played   how fast and how high they are played: the same notes for a seed
inline std::vector<float> make_music(std::uint32_t seed, double seconds,
                                     const Hypothesis& played = {}) {
  std::mt19937 random(seed);
  const auto uniform = [&random](double low, double high) {
    return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
  };
  std::vector<float> noise(static_cast<std::size_t>(seconds * kTestRateHz));
  for (float& sample : noise) sample = static_cast<float>(uniform(-0.002, 0.002));
  std::vector<float> samples(static_cast<std::size_t>(seconds / played.tempo * kTestRateHz));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = noise[i % noise.size()];
  for (int voice = 0; voice < 3; ++voice) {
    for (double start = uniform(0, 0.3); start < seconds; start += uniform(0.12, 0.5)) {
      const double freq = 110.0 * std::exp2((voice * 12 + std::floor(uniform(0, 24))) / 12.0);
      const double decay = uniform(3, 9) * played.tempo;
      const double level = uniform(0.03, 0.12);
      const auto first = static_cast<std::size_t>(start / played.tempo * kTestRateHz);
      const auto last = std::min(
          samples.size(), first + static_cast<std::size_t>(0.8 / played.tempo * kTestRateHz));
      for (int harmonic = 1; harmonic <= 5 && harmonic * freq < 5000; ++harmonic) {
        const double step = 2 * std::numbers::pi * harmonic * freq * played.pitch / kTestRateHz;
        for (std::size_t i = first; i < last; ++i) {
          const double t = static_cast<double>(i - first);
          samples[i] += static_cast<float>(level / harmonic * std::exp(-decay * t / kTestRateHz) *
                                           std::sin(step * t));
        }
      }
    }
  }
  return samples;
}

/// White noise of a given root mean square.
inline void add_noise(std::vector<float>& samples, std::uint32_t seed, double rms) {
  std::mt19937 random(seed);
  for (float& sample : samples) {
    double sum =
        0;  // Irwin-Hall: near enough to a normal distribution, and the same in every library
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
    sample += static_cast<float>(rms * (sum - 6));
  }
}

inline Extraction extraction_of(const std::vector<float>& samples) {
  PeakExtractor extractor;
  Extraction sound;
  extractor.push(samples, sound.peaks, &sound.levels);
  extractor.finish(sound.peaks, &sound.levels);
  return sound;
}

inline std::vector<Peak> peaks_of(const std::vector<float>& samples) {
  return extraction_of(samples).peaks;
}

inline std::vector<float> excerpt(const std::vector<float>& samples, double start_s,
                                  double seconds) {
  const auto first = static_cast<std::ptrdiff_t>(start_s * kTestRateHz);
  return {samples.begin() + first,
          samples.begin() + first + static_cast<std::ptrdiff_t>(seconds * kTestRateHz)};
}

}  // namespace spintag::fingerprint
