// fingerprint/cuda/strip_columns.cuh - one row of a strip, shared out over a warp: what PeakFinder
// does along the bins. Every lane of the warp calls these together.
#pragma once

#include <cstdint>

#include "fingerprint/peak_arithmetic.h"
#include "fingerprint/profile.h"

namespace spintag::fingerprint::cuda {

constexpr unsigned kWarp = 0xFFFFFFFFU;
constexpr int kOwned = 8;  ///< columns of a lane
constexpr int kReach =
    BroadcastProfile::whiten_bins / kOwned;                  ///< lanes that the whitening reaches
constexpr int kRing = 2 * BroadcastProfile::box_frames + 1;  ///< rows of a box
static_assert(kReach * kOwned == BroadcastProfile::whiten_bins);
static_assert(BroadcastProfile::box_bins < kOwned);

/// A lane's columns of one row.
struct Columns {
  float at[kOwned];
};

__device__ __forceinline__ Columns load(const float* row) {
  const float4 low = __ldg(reinterpret_cast<const float4*>(row));
  const float4 high = __ldg(reinterpret_cast<const float4*>(row) + 1);
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

__device__ __forceinline__ void add_steps(const Columns& row, int (&sums)[kOwned]) {
#pragma unroll
  for (int j = 0; j < kOwned; ++j) sums[j] += level_steps(row.at[j]);
}

__device__ __forceinline__ void subtract_steps(const Columns& row, int (&sums)[kOwned]) {
#pragma unroll
  for (int j = 0; j < kOwned; ++j) sums[j] -= level_steps(row.at[j]);
}

/// white = row - mean over the columns up to 24 away: the running sum up to 24 above less that up
/// to 25 below. Modulo 2^32, where the difference of two is exact.
__device__ __forceinline__ Columns whiten(const Columns& row, const int (&sums)[kOwned],
                                          float per_step, int lane) {
  unsigned before[kOwned];  // sum of the lane's columns before this one
  unsigned running = 0;
#pragma unroll
  for (int j = 0; j < kOwned; ++j) {
    before[j] = running;
    running += static_cast<unsigned>(sums[j]);
  }
  unsigned up_to = running;  // sum of all lanes up to this one
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(kWarp, up_to, step);
    if (lane >= step) up_to += below;
  }
  const unsigned base = up_to - running;
  Columns white;
#pragma unroll
  for (int j = 0; j < kOwned; ++j) {
    const unsigned start = __shfl_up_sync(kWarp, base + before[j], kReach);
    const unsigned end =
        __shfl_down_sync(kWarp, j + 1 < kOwned ? base + before[(j + 1) % kOwned] : up_to, kReach);
    white.at[j] = row.at[j] - static_cast<float>(static_cast<int>(end - start)) * per_step;
  }
  return white;
}

/// The maximum over 3 bins on either side of the maximum over 5 frames.
__device__ __forceinline__ Columns box_maximum(const Columns (&ring)[kRing]) {
  static_assert(kRing == 5 && BroadcastProfile::box_bins == 3);
  float high[kOwned + 6];  // of columns -3 .. 10 of the lane
#pragma unroll
  for (int j = 0; j < kOwned; ++j) {
    high[j + 3] =
        fmaxf(fmaxf(fmaxf(ring[0].at[j], ring[1].at[j]), fmaxf(ring[2].at[j], ring[3].at[j])),
              ring[4].at[j]);
  }
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    high[j] = __shfl_up_sync(kWarp, high[j + kOwned], 1);
    high[j + kOwned + 3] = __shfl_down_sync(kWarp, high[j + 3], 1);
  }
  float of_two[kOwned + 5];
#pragma unroll
  for (int j = 0; j < kOwned + 5; ++j) of_two[j] = fmaxf(high[j], high[j + 1]);
  float of_four[kOwned + 3];
#pragma unroll
  for (int j = 0; j < kOwned + 3; ++j) of_four[j] = fmaxf(of_two[j], of_two[j + 2]);
  Columns box;
#pragma unroll
  for (int j = 0; j < kOwned; ++j) box.at[j] = fmaxf(of_four[j], of_four[j + 3]);
  return box;
}

}  // namespace spintag::fingerprint::cuda
