// fingerprint/cuda/verification.cuh - settles and verifies alignments in device memory, a warp
// each, with the bits of the CPU twin (fingerprint/verification.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fingerprint/batch_verification.h"
#include "fingerprint/cuda/query_views.cuh"
#include "fingerprint/verification.h"
#include "kernels/cuda/context.cuh"

namespace spintag::fingerprint::cuda {

/// One alignment of a window. Tasks of one window share its view in the caches when they lie next
/// to each other.
struct VerifyTask {
  std::uint32_t window = 0;           ///< number in the views
  std::uint32_t packed_bytes = 0;     ///< a whole number of peaks
  const std::byte* packed = nullptr;  ///< of the track, in device memory; any alignment
  Fit fit;
};

/// In place of Settled::coincidences and Verdict::expected: the reference has more peaks there than
/// make_reference() can leave, and the device has no room for them. The CPU twin can tell.
constexpr int kTooDense = -1;

/// Queue the work and do not wait.
/// @param tasks  at least `count`
/// @return [count], in the order of the tasks
/// @throws kernels::DeviceError if the longest window is beyond what a block's memory takes
/// (minutes)
kernels::cuda::Array<Settled> settle_offsets(const std::shared_ptr<kernels::cuda::Context>& context,
                                             const QueryViews& views,
                                             const kernels::cuda::Array<VerifyTask>& tasks,
                                             std::size_t count);
kernels::cuda::Array<Verdict> verify(const std::shared_ptr<kernels::cuda::Context>& context,
                                     const QueryViews& views,
                                     const kernels::cuda::Array<VerifyTask>& tasks,
                                     std::size_t count, bool refine = true);

}  // namespace spintag::fingerprint::cuda
