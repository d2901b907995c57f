// fingerprint/cuda/batches.cuh - lists of many windows in device memory, one after the other.
#pragma once

#include <cstdint>

#include "fingerprint/landmarks.h"
#include "fingerprint/peak.h"
#include "kernels/cuda/context.cuh"

namespace spintag::fingerprint::cuda {

/// A list for each of `count` windows: that of window w is values[begin[w], begin[w + 1]).
template <class T>
struct Batch {
  kernels::cuda::Array<T> values;
  kernels::cuda::Array<std::uint32_t> begin;  ///< [count + 1]
  std::uint32_t count = 0;                    ///< windows
  std::uint32_t total = 0;                    ///< values of all windows, known to the host
};

using PeakBatch = Batch<Peak>;    ///< each window's in time order
using ProbeBatch = Batch<Probe>;  ///< in the order of make_query_probes()

/// The stretch of its query that a window looks at, seconds.
struct WindowTimes {
  double start_s = 0;
  double end_s = 0;
};

}  // namespace spintag::fingerprint::cuda
