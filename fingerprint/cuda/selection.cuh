// fingerprint/cuda/selection.cuh - the strongest peaks of each second, for batches in device
// memory.
#pragma once

#include "fingerprint/cuda/batches.cuh"

namespace spintag::fingerprint::cuda {

/// select_strongest() of each window. Waits once, for the number of peaks.
/// @param dense    in time order; those outside its window are not looked at
/// @param windows  [dense.count] device memory
/// @param out      replaced; not `dense`
void select_strongest(const std::shared_ptr<kernels::cuda::Context>& context,
                      const PeakBatch& dense, const WindowTimes* windows, int per_second,
                      PeakBatch& out);

}  // namespace spintag::fingerprint::cuda
