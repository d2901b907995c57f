// fingerprint/cuda/reference_window.cuh - a warp reads the reference points that a window may meet
// out of a track's packed peaks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fingerprint/packed_peak.h"
#include "fingerprint/verification_math.h"
#include "kernels/cuda/launch.cuh"

namespace spintag::fingerprint::cuda {

constexpr unsigned kWholeWarp = 0xFFFFFFFF;

/// Numbers of points, [first, last).
struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

#ifdef __CUDACC__

/// Sum over the lanes before this one.
__device__ inline std::uint32_t warp_sum_before(std::uint32_t value, std::uint32_t lane) {
  std::uint32_t sum = value;
  for (std::uint32_t step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(kWholeWarp, sum, step);
    if (lane >= step) sum += other;
  }
  return sum - value;
}

/// reference_points(), one warp. Time runs on from the track's start: a chunk that ends before the
/// stretch is only added up.
/// @param points  [capacity] shared by the warp
/// @return how many there are; those beyond `capacity` were left out
__device__ inline std::uint32_t read_reference(const std::byte* packed, std::uint32_t bytes,
                                               const verification::Stretch& stretch, double pitch,
                                               ReferencePoint* points, std::uint32_t capacity) {
  constexpr std::uint32_t kEach = 8;  // consecutive records of a lane
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t records = bytes / PackedPeak::kBytes;
  const auto seconds = [](std::int64_t clock) {
    return static_cast<double>(clock) * PackedPeak::kTimeStep;
  };
  const auto stands = [&](const PackedPeak& peak, std::int64_t time) {
    return peak.is_peak() && stretch.holds(seconds(time)) &&
           verification::audible(peak.freq_hz(), pitch);
  };
  std::int64_t clock = 0;
  std::uint32_t kept = 0;
  for (std::uint32_t begin = 0; begin < records && seconds(clock) < stretch.to_s;
       begin += 32 * kEach) {
    const std::uint32_t first = begin + lane * kEach;
    const std::uint32_t own = first >= records ? 0 : min(kEach, records - first);
    const std::byte* const at = packed + std::size_t{first} * PackedPeak::kBytes;
    std::uint32_t delta = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kEach; ++i)
      delta += i < own ? static_cast<std::uint32_t>(at[i * PackedPeak::kBytes + 2]) : 0;
    const std::uint32_t total = __reduce_add_sync(kWholeWarp, delta);
    const std::int64_t start = clock;
    clock += total;
    if (seconds(clock) < stretch.from_s) continue;

    const std::int64_t lane_start = start + warp_sum_before(delta, lane);
    std::uint32_t inside = 0;
    std::int64_t time = lane_start;
    for (std::uint32_t i = 0; i < own; ++i) {
      const PackedPeak peak = PackedPeak::at(at + i * PackedPeak::kBytes);
      time += peak.delta();
      inside += stands(peak, time) ? 1 : 0;
    }
    std::uint32_t place = kept + warp_sum_before(inside, lane);
    time = lane_start;
    for (std::uint32_t i = 0; i < own && inside > 0; ++i) {
      const PackedPeak peak = PackedPeak::at(at + i * PackedPeak::kBytes);
      time += peak.delta();
      if (!stands(peak, time)) continue;
      if (place < capacity) {
        points[place] = verification::make_reference_point(seconds(time), peak.freq_hz(),
                                                           peak.salience_db(), pitch);
      }
      ++place;
    }
    kept += __reduce_add_sync(kWholeWarp, inside);
  }
  __syncwarp();
  return kept;
}

/// Those of a range whose time lies in a stretch, one warp.
__device__ inline Range within(const ReferencePoint* points, const Range& range,
                               const verification::Stretch& stretch) {
  std::uint32_t before = 0;
  std::uint32_t before_end = 0;
  for (std::uint32_t i = range.first + threadIdx.x % 32; i < range.last; i += 32) {
    const double time_s = points[i].time_s;
    before += time_s < stretch.from_s ? 1 : 0;
    before_end += time_s < stretch.to_s ? 1 : 0;
  }
  before = __reduce_add_sync(kWholeWarp, before);
  before_end = __reduce_add_sync(kWholeWarp, before_end);
  return {range.first + before, range.first + max(before, before_end)};
}

#endif

}  // namespace spintag::fingerprint::cuda
