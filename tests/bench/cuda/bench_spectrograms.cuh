// tests/bench/cuda/bench_spectrograms.cuh - a recording's worth of cells to find maxima in.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/context.cuh"
#include "kernels/spectrogram_view.h"
#include "tests/bench/cuda/bench.cuh"

namespace spintag::bench {

/// Two spectrograms of eight minutes of the dejavu profile that take turns, each larger than any
/// cache. Decibels.
class BenchSpectrograms {
 public:
  enum class Kind { kRandom, kNotes };

  BenchSpectrograms(const Bench& bench, Kind kind)
      : frames_(bench.quick() ? 500 : 10'320),
        arrays_{make(bench, kind, 1), make(bench, kind, 2)} {}

  kernels::SpectrogramView next() {
    turn_ = 1 - turn_;
    return {arrays_[turn_].data(), frames_, kBins};
  }
  std::size_t cells() const { return frames_ * kBins; }
  std::string size() const { return std::to_string(frames_) + " x " + std::to_string(kBins); }

 private:
  static constexpr std::size_t kBins = 2049;

  kernels::cuda::Array<float> make(const Bench& bench, Kind kind, unsigned seed) const {
    const std::vector<float> made = cells_of(kind, seed);
    return {bench.context(), std::span<const float>(made)};
  }

  std::vector<float> cells_of(Kind kind, unsigned seed) const {
    std::mt19937 random(seed);
    std::vector<float> made(cells());
    constexpr float kScale = 1.0F / 4294967296.0F;
    for (float& cell : made) cell = 20 + 60 * kScale * static_cast<float>(random());
    if (kind == Kind::kNotes) add_notes(made, random);
    return made;
  }

  /// Smooths the noise and lays decaying notes on it, six a frame.
  void add_notes(std::vector<float>& cells, std::mt19937& random) const {
    for (std::size_t i = 1; i < cells.size(); ++i) cells[i] = 0.8F * cells[i - 1] + 0.2F * cells[i];
    for (std::size_t i = kBins; i < cells.size(); ++i) {
      cells[i] = 0.5F * cells[i - kBins] + 0.5F * cells[i];
    }
    for (std::size_t note = 0; note < 6 * frames_; ++note) {
      const std::size_t first = random() % frames_;
      const std::size_t centre = 4 + random() % (kBins - 8);
      const float level = 55 + static_cast<float>(random() % 4000) * 0.01F;
      for (std::size_t f = first; f < std::min(first + 20, frames_); ++f) {
        for (std::size_t b = centre - 4; b <= centre + 4; ++b) {
          const float away = static_cast<float>(b) - static_cast<float>(centre) - 0.3F;
          float& cell = cells[f * kBins + b];
          cell = std::max(cell, level - 1.5F * away * away - static_cast<float>(f - first));
        }
      }
    }
  }

  std::size_t frames_;
  std::array<kernels::cuda::Array<float>, 2> arrays_;
  std::size_t turn_ = 0;
};

}  // namespace spintag::bench
