// tests/unit/kernels/test_spectrograms.h - arrays and footprints that twins must agree on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "kernels/footprint.h"
#include "tests/unit/kernels/naive_sliding_max.h"

namespace spintag::kernels {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A mask of any size; about `share` of its cells belong to it.
inline Footprint random_mask(std::size_t frames, std::size_t bins, double share, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution belongs(share);
  std::vector<std::uint8_t> cells(frames * bins);
  for (auto& cell : cells) cell = belongs(random) ? 1 : 0;
  return Footprint::mask(cells, frames, bins);
}

inline Footprint as_mask(const Footprint& footprint) {
  std::vector<std::uint8_t> cells;
  for (std::size_t f = 0; f < footprint.frames(); ++f) {
    for (std::size_t b = 0; b < footprint.bins(); ++b) cells.push_back(footprint.contains(f, b));
  }
  return Footprint::mask(cells, footprint.frames(), footprint.bins());
}

/// Decibels as music has them: notes that begin at once and die away, broad in frequency, on noise
/// that falls towards high bins and is smooth in both directions.
inline Spectrogram note_spectrogram(std::size_t frames, std::size_t bins, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 2);
  Spectrogram made{std::vector<float>(frames * bins), frames, bins};
  for (std::size_t f = 0; f < frames; ++f) {
    float smooth = 0;
    for (std::size_t b = 0; b < bins; ++b) {
      smooth = 0.7F * smooth + noise(random);
      const float before = f > 0 ? made.cells[(f - 1) * bins + b] : 0;
      made.cells[f * bins + b] = 0.5F * before + smooth - 0.01F * static_cast<float>(b);
    }
  }
  std::uniform_real_distribution<double> unit(0, 1);
  for (std::size_t note = 0; note < frames * bins / 500 + 1; ++note) {
    const auto first = static_cast<std::size_t>(unit(random) * static_cast<double>(frames));
    const double centre = unit(random) * static_cast<double>(bins);
    const auto level = static_cast<float>(20 + 40 * unit(random));
    for (std::size_t f = first; f < std::min(first + 40, frames); ++f) {
      for (std::size_t b = 0; b < bins; ++b) {
        const auto away = static_cast<float>(static_cast<double>(b) - centre);
        if (std::abs(away) > 6) continue;
        float& cell = made.cells[f * bins + b];
        cell = std::max(cell, level - 1.5F * away * away - static_cast<float>(f - first));
      }
    }
  }
  return made;
}

/// Plateaus, constants, NaN, infinities, single rows and columns.
inline std::vector<Spectrogram> hard_spectrograms() {
  std::vector<Spectrogram> all;
  all.push_back(random_spectrogram(70, 81, 21, 6));   // small plateaus
  all.push_back(random_spectrogram(70, 81, 22, 40));  // large ones
  all.push_back({std::vector<float>(45 * 131, -3), 45, 131});
  all.push_back({std::vector<float>(30 * 40, -kInf), 30, 40});
  all.push_back({std::vector<float>(30 * 40, kNan), 30, 40});
  all.push_back(random_spectrogram(66, 90, 23));
  for (std::size_t i = 0; i < all.back().cells.size(); i += 3) all.back().cells[i] = kNan;
  all.back().cells[400] = kInf;
  all.push_back(random_spectrogram(66, 90, 24));
  for (std::size_t i = 0; i < all.back().cells.size(); ++i) {
    if (i % 7 != 3) all.back().cells[i] = -kInf;
  }
  all.push_back(random_spectrogram(50, 64, 25));
  for (std::size_t i = 0; i < 20 * 64; ++i) all.back().cells[i] = i % 64 < 40 ? kNan : -kInf;
  all.push_back(random_spectrogram(1, 300, 26));
  all.push_back(random_spectrogram(300, 1, 27));
  all.push_back({{0.0F, -0.0F, -0.0F, 0.0F}, 2, 2});
  all.push_back({{}, 0, 17});
  all.push_back({{}, 17, 0});
  return all;
}

}  // namespace spintag::kernels
