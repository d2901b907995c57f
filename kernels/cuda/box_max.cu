// kernels/cuda/box_max.cu - sliding maximum over a box: along frames, then along bins.
// Source: M. van Herk, Pattern Recognition Letters 13 (1992); J. Gil, M. Werman, IEEE PAMI 15
// (1993), as in kernels/line_max.h.
#include "kernels/cuda/box_max.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/cuda/sliding_max.cuh"

namespace spintag::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kAtOnce = 8;  // loads in flight

/// Along frames. With blocks of 2 radius + 1 rows, a window is the end of one block and the
/// beginning of the next. A thread has one bin and the windows that begin in one block: it walks
/// back through the block, which gives every end, then on through the next block and joins.
__global__ void __launch_bounds__(kThreads)
    along_frames_kernel(const float* __restrict__ cells, int frames, int bins, int radius,
                        int row_blocks, float* __restrict__ maxima) {
  const int bin = static_cast<int>(blockIdx.x % static_cast<unsigned>(row_blocks)) * kThreads +
                  static_cast<int>(threadIdx.x);
  if (bin >= bins) return;
  const std::ptrdiff_t length = 2 * std::ptrdiff_t{radius} + 1;
  // Window `first` begins at frame first - radius, where the block begins.
  const std::ptrdiff_t first = length * (blockIdx.x / static_cast<unsigned>(row_blocks));
  const auto cell = [&](std::ptrdiff_t frame) {
    return frame >= 0 && frame < frames ? cells[frame * bins + bin] : -INFINITY;
  };
  float running = -INFINITY;
  float next[kAtOnce];
  for (std::ptrdiff_t k = length - 1; k >= 0; k -= kAtOnce) {
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) next[j] = k >= j ? cell(first - radius + k - j) : -INFINITY;
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      running = fmaxf(running, next[j]);
      const std::ptrdiff_t window = first + k - j;
      if (k >= j && window < frames) maxima[window * bins + bin] = running;
    }
  }
  running = -INFINITY;
  float ends[kAtOnce];
  for (std::ptrdiff_t k = 1; k < length && first + k < frames; k += kAtOnce) {
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const std::ptrdiff_t window = first + k + j;
      const bool counts = k + j < length && window < frames;
      next[j] = counts ? cell(window + radius) : -INFINITY;
      ends[j] = counts ? maxima[window * bins + bin] : -INFINITY;
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      running = fmaxf(running, next[j]);
      const std::ptrdiff_t window = first + k + j;
      if (k + j < length && window < frames) maxima[window * bins + bin] = fmaxf(running, ends[j]);
    }
  }
}

void along_frames(const Context& context, SpectrogramView size, const float* from, int radius,
                  float* to) {
  const std::size_t length = 2 * static_cast<std::size_t>(radius) + 1;
  const auto row_blocks = static_cast<unsigned>((size.bins + kThreads - 1) / kThreads);
  const auto blocks = row_blocks * static_cast<unsigned>((size.frames + length - 1) / length);
  launch(context, along_frames_kernel, dim3(blocks), dim3(kThreads), 0, from,
         static_cast<int>(size.frames), static_cast<int>(size.bins), radius,
         static_cast<int>(row_blocks), to);
}

/// Along bins: windows double until they overlap to the length that is wanted. A block has
/// kSlots * kThreads neighbouring cells of a frame, in registers; shared memory lets each see the
/// cell that lies half a window further.
/// @param tile  bins whose maxima a block writes; tile + 2 radius <= kSlots * kThreads
template <int kSlots>
__global__ void __launch_bounds__(kThreads)
    along_bins_kernel(const float* __restrict__ cells, int bins, int radius, int tile, int tiles,
                      float* __restrict__ maxima) {
  constexpr int kCells = kSlots * kThreads;
  __shared__ float shared[kCells];
  const int thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(tiles)) * tile;
  const std::ptrdiff_t row = std::ptrdiff_t{bins} * (blockIdx.x / static_cast<unsigned>(tiles));
  float window[kSlots];
#pragma unroll
  for (int k = 0; k < kSlots; ++k) {
    const int bin = first - radius + k * kThreads + thread;
    window[k] = bin >= 0 && bin < bins ? cells[row + bin] : -INFINITY;
  }
  const int target = 2 * radius + 1;
  for (int length = 1; length < target;) {
    const int step = min(length, target - length);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSlots; ++k) shared[k * kThreads + thread] = window[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSlots; ++k) {
      const int other = k * kThreads + thread + step;
      if (other < kCells) window[k] = fmaxf(window[k], shared[other]);
    }
    length += step;
  }
#pragma unroll
  for (int k = 0; k < kSlots; ++k) {
    const int at = k * kThreads + thread;
    if (at < tile && first + at < bins) maxima[row + first + at] = fmaxf(window[k], -INFINITY);
  }
}

constexpr int kFewSlots = 4;
constexpr int kManySlots = 32;
constexpr int kFewReach = kFewSlots * kThreads / 8;    // so that margins are at most a quarter
constexpr int kManyReach = kManySlots * kThreads / 4;  // at most half; beyond it, several passes

template <int kSlots>
void along_bins(const Context& context, SpectrogramView size, const float* from, int radius,
                float* to) {
  const auto most = static_cast<std::size_t>(kSlots * kThreads - 2 * radius);
  const std::size_t tiles = (size.bins + most - 1) / most;
  const std::size_t tile = (size.bins + tiles - 1) / tiles;
  launch(context, along_bins_kernel<kSlots>, dim3(static_cast<unsigned>(tiles * size.frames)),
         dim3(kThreads), 0, from, static_cast<int>(size.bins), radius, static_cast<int>(tile),
         static_cast<int>(tiles), to);
}

}  // namespace

void queue_box_max(const std::shared_ptr<Context>& context, SpectrogramView cells,
                   std::size_t frame_radius, std::size_t bin_radius, float* maxima) {
  if (cells.frames == 0 || cells.bins == 0) return;
  const int in_frames = static_cast<int>(std::min(frame_radius, cells.frames - 1));
  const int in_bins = static_cast<int>(std::min(bin_radius, cells.bins - 1));
  const int bin_passes = std::max((in_bins + kManyReach - 1) / kManyReach, 1);
  const int frame_passes = in_frames > 0 ? 1 : 0;

  PassTargets targets(context, cells.frames * cells.bins, frame_passes + bin_passes, maxima);
  const float* from = cells.cells;
  if (frame_passes > 0) {
    float* to = targets.next();
    along_frames(*context, cells, from, in_frames, to);
    from = to;
  }
  for (int left = in_bins, pass = 0; pass < bin_passes; ++pass) {
    const int radius = std::min(left, kManyReach);
    float* to = targets.next();
    if (radius <= kFewReach) {
      along_bins<kFewSlots>(*context, cells, from, radius, to);
    } else {
      along_bins<kManySlots>(*context, cells, from, radius, to);
    }
    from = to;
    left -= radius;
  }
}

}  // namespace spintag::kernels::cuda
