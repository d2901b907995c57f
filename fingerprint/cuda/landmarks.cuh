// fingerprint/cuda/landmarks.cuh - pairs of peaks, for batches in device memory.
#pragma once

#include "fingerprint/cuda/batches.cuh"

namespace spintag::fingerprint::cuda {

/// make_query_probes() of each window. Waits once, for the number of probes.
/// @param selected  the peaks to pair, as select_strongest() gives them
/// @param windows   [selected.count] device memory; a window's start is its origin
/// @param out       replaced
/// @throws kernels::DeviceError if memory runs out, or for 2^32 probes
void make_query_probes(const std::shared_ptr<kernels::cuda::Context>& context,
                       const PeakBatch& selected, const WindowTimes* windows,
                       const Hypothesis& hypothesis, const Softness& soft, ProbeBatch& out);

/// make_reference_landmarks() of each list. Waits once, for the number of landmarks.
/// @param peaks  as unpack_peaks() gives them
/// @param out    replaced
void make_reference_landmarks(const std::shared_ptr<kernels::cuda::Context>& context,
                              const PeakBatch& peaks, Batch<Landmark>& out);

}  // namespace spintag::fingerprint::cuda
