// kernels/cuda/peaks.cuh - local maxima of a spectrogram in device memory.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/context.cuh"
#include "kernels/cuda/peak_marks.cuh"
#include "kernels/peaks.h"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels::cuda {

/// Device memory that find_peaks() needs between its kernels, kept for the next call. Grows as
/// needed: about a bit a cell, and 4 bytes a cell for footprints that are neither box nor diamond,
/// reach less than 4 cells or hold more than 2048.
struct PeakScratch {
  FootprintScratch footprint;
  Array<std::uint32_t> marks;   ///< a bit a cell: it is a peak; rows are whole words
  Array<std::uint32_t> counts;  ///< peaks in each part of each group of rows
  Array<float> maxima;
};

/// Queues find_peaks() and does not wait.
/// @param cells     [frames, bins] in device memory
/// @param peaks     in device memory, receives the first `capacity` peaks in (frame, bin) order
/// @param count     in device memory, receives how many there are, be it more than `capacity`
/// @param scratch   of this context; its former contents do not matter
/// @throws DeviceError
void queue_find_peaks(const std::shared_ptr<Context>& context, SpectrogramView cells,
                      const PeakParams& params, PeakScratch& scratch, Peak* peaks,
                      std::size_t capacity, unsigned long long* count);

}  // namespace spintag::kernels::cuda
