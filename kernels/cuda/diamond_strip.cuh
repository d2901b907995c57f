// kernels/cuda/diamond_strip.cuh - sliding maximum over a diamond of a radius known to the
// compiler.
// Source: M. van Herk, Pattern Recognition Letters 13 (1992); J. Gil, M. Werman, IEEE PAMI 15
// (1993), as in kernels/line_max.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstddef>

#include "kernels/cuda/launch.cuh"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels::cuda {

/// How a block of the kernel below is made for a radius.
template <int kRadius>
struct DiamondShape {
  /// Rows between barriers: whole runs of kRadius, at least 8.
  static constexpr int kRows = kRadius * ((8 + kRadius - 1) / kRadius);
  /// Columns of the widest strip, and how many such strips a multiprocessor must have registers
  /// for: a thread keeps about 3 kRadius values.
  static constexpr int kWidest = kRadius <= 12   ? 512
                                 : kRadius <= 20 ? 384
                                 : kRadius <= 24 ? 320
                                                 : 256;
  static constexpr int kStrips = 2;
};

/// Running maximum over kLength cells along a line: the maximum since the line's block of kLength
/// cells began, joined with what the block before contributes.
/// @param tail  tail[j]: maximum of the last block's cells from j on; becomes that of these cells
/// @param give  void(int j, float maximum of the kLength cells that end at cells[j])
template <int kLength, int kRows, class Give>
__device__ __forceinline__ void line_maxima(const float (&cells)[kRows], float (&tail)[kLength],
                                            Give&& give) {
#pragma unroll
  for (int begin = 0; begin < kRows; begin += kLength) {
    float head = cells[begin];
#pragma unroll
    for (int j = 0; j < kLength; ++j) {
      if (j > 0) head = fmaxf(head, cells[begin + j]);
      give(begin + j, j + 1 < kLength ? fmaxf(head, tail[j + 1]) : head);
    }
    tail[kLength - 1] = cells[begin + kLength - 1];
#pragma unroll
    for (int j = kLength - 2; j > 0; --j) tail[j] = fmaxf(cells[begin + j], tail[j + 1]);
  }
}

/// A diamond of radius R is a rising line of R cells, dilated by a falling line of R cells, dilated
/// by a cross (kernels/sliding_max.cpp says why). A block owns a strip of columns, one thread each,
/// and marches along the frames. For the lines a thread does not stay in its column: at the n-th
/// row thread i has column (i + n) or (i - n) modulo the strip's width, so that a diagonal is one
/// thread's and its running maximum stays in registers. Where a diagonal leaves one side of the
/// strip and enters at the other, lines mix both sides: that spoils the outer R columns, which
/// are the neighbour strips' to write.
///
/// Rows come kRows at a time: read and rising line; barrier; falling line; barrier; cross. Rising
/// maxima are kept by thread, so that their place costs nothing to compute: a cell of column c and
/// row n is at c - n, and the falling thread of column i - n finds it at i - 2 n.
///
/// fmaxf() takes the one that is no NaN, and the last maximum with minus infinity makes nothing of
/// a NaN that nothing beat.
///
/// Launch: [strips, segments] blocks of a multiple of 32 threads, more than 2 * kRadius and at
/// least 2 * kRows; shared memory for 2 * kRows rows of the strip.
/// @param segment_frames  rows of maxima that a block writes
template <int kRadius>
__global__ void __launch_bounds__(DiamondShape<kRadius>::kWidest, DiamondShape<kRadius>::kStrips)
    diamond_strip_kernel(const float* __restrict__ cells, int frames, int bins, int segment_frames,
                         float* __restrict__ maxima) {
  constexpr int kRows = DiamondShape<kRadius>::kRows;
  constexpr float kNothing = -INFINITY;
  const int width = static_cast<int>(blockDim.x);
  const int column = static_cast<int>(threadIdx.x);
  const int first_bin = static_cast<int>(blockIdx.x) * (width - 2 * kRadius) - kRadius;
  const int first_frame = static_cast<int>(blockIdx.y) * segment_frames;
  const int end_frame = min(first_frame + segment_frames, frames);
  const int bin = first_bin + column;
  const bool writes = column >= kRadius && column < width - kRadius && bin < bins;
  float* const risen = dynamic_shared<float>();  // [kRows, threads]
  float* const lattice = risen + kRows * width;  // [kRows, columns]

  float rising_tail[kRadius];
  float falling_tail[kRadius];
#pragma unroll
  for (int j = 0; j < kRadius; ++j) rising_tail[j] = falling_tail[j] = kNothing;
  int rising = column;  // for each line, the thread's column in the next row
  int falling = column;
  int source = column;      // where the falling line finds the rising maximum of its column
  float before = kNothing;  // of the cross: the last row but one here, and the last row here and
  float middle = kNothing;  // beside
  float across = kNothing;

  // Lines that end at `frame` centre on frame - kRadius + 1, and the cross needs one row more.
  for (int frame = first_frame - kRadius; frame < end_frame + kRadius; frame += kRows) {
    float line[kRows];
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      const int wrapped = rising + j < width ? rising + j : rising + j - width;
      const int at = first_bin + wrapped;
      const bool inside = static_cast<unsigned>(at) < static_cast<unsigned>(bins) &&
                          static_cast<unsigned>(frame + j) < static_cast<unsigned>(frames);
      const float* row = cells + static_cast<std::ptrdiff_t>(frame + j) * bins;
      line[j] = inside ? row[at] : kNothing;
    }
    line_maxima(line, rising_tail,
                [&](int j, float maximum) { risen[j * width + column] = maximum; });
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      const int wrapped = source - 2 * j >= 0 ? source - 2 * j : source - 2 * j + width;
      line[j] = risen[j * width + wrapped];
    }
    line_maxima(line, falling_tail, [&](int j, float maximum) {
      const int wrapped = falling - j >= 0 ? falling - j : falling - j + width;
      lattice[j * width + wrapped] = maximum;
    });
    __syncthreads();
    if (writes) {
#pragma unroll
      for (int j = 0; j < kRows; ++j) {
        const float* here = lattice + j * width + column;
        const float next = here[0];
        const int written = frame + j - kRadius;
        if (written >= first_frame && written < end_frame) {
          float* row = maxima + static_cast<std::ptrdiff_t>(written) * bins;
          __stcs(row + bin, fmaxf(fmaxf(fmaxf(before, next), across), kNothing));
        }
        before = middle;
        middle = next;
        across = fmaxf(fmaxf(here[-1], here[1]), next);
      }
    }
    rising = rising + kRows < width ? rising + kRows : rising + kRows - width;
    falling = falling - kRows >= 0 ? falling - kRows : falling - kRows + width;
    source = source - 2 * kRows >= 0 ? source - 2 * kRows : source - 2 * kRows + width;
  }
}

}  // namespace spintag::kernels::cuda
