// kernels/cuda/mask_max.cuh - sliding maximum over any footprint.
#pragma once

#include <memory>

#include "kernels/cuda/context.cuh"
#include "kernels/footprint.h"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels::cuda {

/// As queue_sliding_max(). Costs two comparisons a cell for each run of neighbouring bins in each
/// row of the footprint (a run longer than 64 bins counts as several).
void queue_mask_max(const std::shared_ptr<Context>& context, SpectrogramView cells,
                    const Footprint& footprint, float* maxima);

}  // namespace spintag::kernels::cuda
