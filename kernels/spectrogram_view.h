// kernels/spectrogram_view.h - somebody else's spectrogram, looked at.
#pragma once

#include <cstddef>

namespace spintag::kernels {

/// [frames, bins] row-major: cell (frame, bin) is cells[frame * bins + bin]. Owns nothing.
struct SpectrogramView {
  const float* cells = nullptr;
  std::size_t frames = 0;
  std::size_t bins = 0;

  const float* frame(std::size_t index) const { return cells + index * bins; }
};

}  // namespace spintag::kernels
