// kernels/stft_tables.cpp - the Hann window and the scales of a power spectrum.
#include "kernels/stft_tables.h"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace spintag::kernels {

void check_stft(const StftParams& p) {
  if (p.frame_samples < 4 || p.frame_samples % 2 != 0 || p.frame_samples > (1U << 30)) {
    throw std::invalid_argument("frame_samples " + std::to_string(p.frame_samples) +
                                " is not an even number from 4 to 2^30");
  }
  if (p.hop_samples < 1) throw std::invalid_argument("hop_samples is 0");
  const std::size_t all = p.frame_samples / 2 + 1;
  if (p.first_bin > all || p.bins > all - p.first_bin) {
    throw std::invalid_argument("bins " + std::to_string(p.first_bin) + " to " +
                                std::to_string(p.first_bin + p.bins) + " are more than the " +
                                std::to_string(all) + " of the frame");
  }
}

std::vector<double> stft_window(const StftParams& params) {
  const std::size_t samples = params.frame_samples;
  const std::size_t period = params.window == HannWindow::kPeriodic ? samples : samples - 1;
  std::vector<double> window(samples);
  for (std::size_t n = 0; n < samples; ++n) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(period);
    window[n] = 0.5 - 0.5 * std::cos(angle);
  }
  return window;
}

double stft_power_factor(const StftParams& params) {
  double sum = 0;
  double squares = 0;
  for (const double w : stft_window(params)) {
    sum += w;
    squares += w * w;
  }
  switch (params.scale) {
    case PowerScale::kRaw:
      return params.gain;
    case PowerScale::kFullScaleSine:
      return params.gain * (4 / (sum * sum));
    case PowerScale::kDensity:
      return params.gain * (2 / squares);
  }
  return params.gain;
}

}  // namespace spintag::kernels
