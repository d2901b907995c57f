// kernels/cuda/diamond_max.cuh - sliding maximum over a diamond.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/cuda/context.cuh"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels::cuda {

/// As queue_sliding_max(). One pass over the array up to radius 32 (two for some of those radii),
/// one more for each doubling beyond.
void queue_diamond_max(const std::shared_ptr<Context>& context, SpectrogramView cells,
                       std::size_t radius, float* maxima);

}  // namespace spintag::kernels::cuda
