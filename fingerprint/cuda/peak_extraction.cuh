// fingerprint/cuda/peak_extraction.cuh - dense peaks of many recordings that lie in device memory.
#pragma once

#include <memory>
#include <span>

#include "fingerprint/cuda/batches.cuh"
#include "fingerprint/cuda/level_rows.cuh"

namespace spintag::fingerprint::cuda {

/// What PeakFinder and DensityLimit make of those levels. Waits once, for how many peaks there are.
/// @param cells  if not null, [rows, LevelMap::kCells]: receives what LevelMap keeps
PeakBatch find_peaks(const std::shared_ptr<kernels::cuda::Context>& context, const LevelRows& rows,
                     std::int8_t* cells = nullptr);

/// What PeakExtractor makes of each recording.
/// @param samples  mono, BroadcastProfile::rate_hz; places should be even
PeakBatch extract_peaks(const std::shared_ptr<kernels::cuda::Context>& context,
                        const float* samples, std::span<const kernels::cuda::SignalPlace> places);

}  // namespace spintag::fingerprint::cuda
