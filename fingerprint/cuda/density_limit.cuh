// fingerprint/cuda/density_limit.cuh - DensityLimit for many recordings: of each second's peaks the
// strongest, in order of time.
#pragma once

#include <cstdint>
#include <memory>

#include "fingerprint/cuda/peak_candidates.cuh"
#include "fingerprint/peak.h"

namespace spintag::fingerprint::cuda {

/// How much room a second's peaks needed.
struct RoomNeeded {
  std::uint32_t slots = 0;  ///< of the fullest list of candidates
  std::uint32_t peaks = 0;  ///< of the second with the most
};

/// The peaks that each second keeps.
struct KeptPeaks {
  kernels::cuda::Array<Peak> peaks;            ///< [seconds, BroadcastProfile::dense_peaks_per_s]
  kernels::cuda::Array<std::uint32_t> counts;  ///< [seconds + 1], the last without meaning
  kernels::cuda::Array<RoomNeeded> needed;  ///< [1]: if it is more than there was, `peaks` is not
                                            ///< complete
};

/// Queues the choice.
/// @param room  peaks of a second that may be compared, before the limit
KeptPeaks limit_density(const std::shared_ptr<kernels::cuda::Context>& context,
                        const LevelRows& rows, const SecondTable& table,
                        const CandidateLists& candidates, std::uint32_t room);

}  // namespace spintag::fingerprint::cuda
