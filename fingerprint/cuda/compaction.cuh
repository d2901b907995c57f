// fingerprint/cuda/compaction.cuh - keeps some of the peaks of each list.
#pragma once

#include "fingerprint/cuda/batch_tools.cuh"

namespace spintag::fingerprint::cuda {

/// What becomes of a peak.
enum class Fate : std::uint8_t {
  kGoes = 0,
  kStays = 1,  ///< in the order that it came
  kSorted =
      2,  ///< by is_earlier() among the peaks of its very time, which have the same fate or go
};

/// Takes the peaks that stay into out.values, whose size is that of `from`, and out.begin; does not
/// wait, so that the host learns no total: out.total stays the most that it can be.
/// @param kept  [from.total + 1] 1 or 0: those that do not go
/// @param fate  [from.total]
Places compact(const ContextPointer& context, const PeakBatch& from,
               kernels::cuda::Array<std::uint32_t> kept, const kernels::cuda::Array<Fate>& fate,
               PeakBatch& out);

}  // namespace spintag::fingerprint::cuda
