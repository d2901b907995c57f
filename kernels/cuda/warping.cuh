// kernels/cuda/warping.cuh - warping of a query against candidates that lie in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/context.cuh"
#include "kernels/warping.h"

namespace spintag::kernels::cuda {

/// Queues the distances of `count` candidates, as kernels::warping_distances() tells of them. All
/// arrays are in device memory.
/// @param rows  of the query, 1 to kMostWarpedRows
/// @param params  of a cap of kLargestCap at most
void queue_warping(const Context& context, const std::int16_t* references,
                   const std::int16_t* query, std::size_t rows, const WarpingCandidate* candidates,
                   std::size_t count, const WarpingParams& params, std::uint16_t* distances);

}  // namespace spintag::kernels::cuda
