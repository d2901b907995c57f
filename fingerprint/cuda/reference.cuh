// fingerprint/cuda/reference.cuh - what is kept of recordings, for batches in device memory.
#pragma once

#include <cstddef>

#include "fingerprint/cuda/batches.cuh"

namespace spintag::fingerprint::cuda {

/// References of several recordings.
struct ReferenceBatch {
  Batch<std::byte> packed;  ///< PackedPeaks of each
  PeakBatch peaks;          ///< what unpack_peaks() gives of them
};

/// make_reference() of each recording. Waits once, for the sizes.
/// @param dense  peaks of whole recordings, in time order
/// @param out    replaced
void make_references(const std::shared_ptr<kernels::cuda::Context>& context, const PeakBatch& dense,
                     ReferenceBatch& out);

}  // namespace spintag::fingerprint::cuda
