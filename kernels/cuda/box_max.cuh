// kernels/cuda/box_max.cuh - sliding maximum over a box.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/cuda/context.cuh"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels::cuda {

/// As queue_sliding_max(). One pass along frames, whose cost does not grow with the radius, and one
/// along bins (more beyond a radius of thousands), which grows with its logarithm.
void queue_box_max(const std::shared_ptr<Context>& context, SpectrogramView cells,
                   std::size_t frame_radius, std::size_t bin_radius, float* maxima);

}  // namespace spintag::kernels::cuda
