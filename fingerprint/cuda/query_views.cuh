// fingerprint/cuda/query_views.cuh - the query windows of a batch in device memory, arranged as
// QueryView arranges one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fingerprint/cuda/batches.cuh"
#include "fingerprint/query_arrays.h"
#include "kernels/cuda/context.cuh"

namespace spintag::fingerprint::cuda {

/// Holds the bits that QueryView::assign() makes of each window, but for the order of `u` within a
/// cell, which nobody asks for.
struct QueryViews {
  /// Queues the work and does not wait; `peaks` may be freed at once.
  /// @param peaks  the densest set that verification uses
  /// @param times  [peaks.count] on the host
  QueryViews(const std::shared_ptr<kernels::cuda::Context>& context, const PeakBatch& peaks,
             std::span<const WindowTimes> times);

  std::uint32_t count = 0;                  ///< windows
  double longest_s = 0;                     ///< of them
  kernels::cuda::Array<QueryArrays> views;  ///< [count] into the arrays below

  kernels::cuda::Array<QueryPoint> points;
  kernels::cuda::Array<float> salience_db;
  kernels::cuda::Array<float> u;
  kernels::cuda::Array<std::uint32_t> time_cells;  ///< [count, cells of the longest + 1]
  kernels::cuda::Array<std::uint32_t> u_cells;     ///< [count, kUCells + 1]
};

}  // namespace spintag::fingerprint::cuda
