// kernels/stft_tables.h - what every transform of an StftParams is made from; Stft and its CUDA
// twin use the same.
#pragma once

#include <vector>

#include "kernels/stft.h"

namespace spintag::kernels {

/// @throws std::invalid_argument if the parameters break the rules of StftParams
void check_stft(const StftParams& params);

/// The window, [frame_samples].
std::vector<double> stft_window(const StftParams& params);

/// What |X(k)|^2 is multiplied by: scale and gain; at 0 and at Nyquist half of it for kDensity.
double stft_power_factor(const StftParams& params);

}  // namespace spintag::kernels
