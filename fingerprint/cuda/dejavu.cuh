// fingerprint/cuda/dejavu.cuh - the `dejavu` profile's pairs, for batches in device memory.
#pragma once

#include "fingerprint/cuda/batches.cuh"
#include "fingerprint/dejavu.h"

namespace spintag::fingerprint::cuda {

/// dejavu_landmarks() of each list. Waits once, for the number of landmarks.
/// @param peaks  in (frame, bin) order
/// @param out    replaced
void dejavu_landmarks(const std::shared_ptr<kernels::cuda::Context>& context,
                      const Batch<kernels::Peak>& peaks, const DejavuProfile& profile,
                      Batch<DejavuLandmark>& out);

}  // namespace spintag::fingerprint::cuda
