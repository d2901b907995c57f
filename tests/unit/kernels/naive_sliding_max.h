// tests/unit/kernels/naive_sliding_max.h - the sliding maximum by its definition, and arrays to try
// it on.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "kernels/footprint.h"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels {

/// Looks at every cell of the footprint around every cell.
inline std::vector<float> naive_sliding_max(SpectrogramView in, const Footprint& footprint) {
  std::vector<float> maxima(in.frames * in.bins, -std::numeric_limits<float>::infinity());
  for (std::size_t frame = 0; frame < in.frames; ++frame) {
    for (std::size_t bin = 0; bin < in.bins; ++bin) {
      float& maximum = maxima[frame * in.bins + bin];
      for (std::size_t f = 0; f < footprint.frames(); ++f) {
        for (std::size_t b = 0; b < footprint.bins(); ++b) {
          // Unsigned: what lies before the array becomes huge.
          const std::size_t y = frame + f - footprint.anchor_frame();
          const std::size_t x = bin + b - footprint.anchor_bin();
          if (!footprint.contains(f, b) || y >= in.frames || x >= in.bins) continue;
          const float cell = in.frame(y)[x];
          if (cell > maximum) maximum = cell;
        }
      }
    }
  }
  return maxima;
}

/// A spectrogram that owns its cells.
struct Spectrogram {
  std::vector<float> cells;
  std::size_t frames = 0;
  std::size_t bins = 0;

  SpectrogramView view() const { return {cells.data(), frames, bins}; }
};

/// Decibels around -20, most of them negative; `step` > 0 rounds them, which makes plateaus.
inline Spectrogram random_spectrogram(std::size_t frames, std::size_t bins, unsigned seed,
                                      float step = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(-20, 15);
  Spectrogram made{std::vector<float>(frames * bins), frames, bins};
  for (float& cell : made.cells) {
    cell = value(random);
    if (step > 0) cell = step * std::round(cell / step);
  }
  return made;
}

}  // namespace spintag::kernels
