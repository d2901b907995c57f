// kernels/cuda/peak_marks.cu - which cells of a spectrogram are peaks, as bits.
#include "kernels/cuda/peak_marks.cuh"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/cuda/peak_sieve.cuh"

namespace spintag::kernels::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = kSieveThreads;
constexpr unsigned kAllLanes = 0xFFFFFFFFU;

__device__ void clear_marks(const PeakMarking& marking, int frame, int word) {
  marking.marks[static_cast<std::ptrdiff_t>(frame) * marking.row_words + word] = 0;
  if (word == 0) marking.counts[frame / marking.group_rows] = 0;
}

__device__ void mark(const PeakMarking& marking, int frame, int bin) {
  atomicOr(marking.marks + static_cast<std::ptrdiff_t>(frame) * marking.row_words + bin / kWarp,
           1U << static_cast<unsigned>(bin % kWarp));
  atomicAdd(marking.counts + frame / marking.group_rows, 1U);
}

constexpr int kWarpFrames = 16;  ///< rows that a warp reads together

/// Reads everything once. A warp takes 32 bins of kWarpFrames rows, all in flight at a time; a lane
/// has a bin. Clears the marks of those cells as well.
template <class Tile>
__global__ void __launch_bounds__(kThreads)
    tile_maxima_kernel(PeakMarking marking, int tile_columns, TileMax* __restrict__ tiles) {
  constexpr int kFrames = Tile::kFrames;
  constexpr int kBins = Tile::kBins;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const unsigned warp = (blockIdx.x * kThreads + threadIdx.x) / kWarp;
  const auto row_words = static_cast<unsigned>(marking.row_words);
  const int word = static_cast<int>(warp % row_words);
  const int first = static_cast<int>(warp / row_words) * kWarpFrames;
  if (first >= marking.frames) return;
  const int bin = word * kWarp + lane;
  float cell[kWarpFrames];
#pragma unroll
  for (int j = 0; j < kWarpFrames; ++j) {
    const float* row = marking.cells + static_cast<std::ptrdiff_t>(first + j) * marking.bins;
    cell[j] = first + j < marking.frames && bin < marking.bins ? row[bin] : -INFINITY;
  }
  if (lane < kWarpFrames && first + lane < marking.frames) clear_marks(marking, first + lane, word);

#pragma unroll
  for (int top = 0; top < kWarpFrames; top += kFrames) {
    float level = -INFINITY;
#pragma unroll
    for (int j = 0; j < kFrames; ++j) level = fmaxf(level, cell[top + j]);
#pragma unroll
    for (int step = kBins / 2; step > 0; step /= 2) {
      level = fmaxf(level, __shfl_xor_sync(kAllLanes, level, step));
    }
    unsigned equal = 0;  // which rows of this bin have it
#pragma unroll
    for (int j = 0; j < kFrames; ++j) equal |= cell[top + j] == level ? 1U << j : 0U;
    const unsigned with_it = __ballot_sync(kAllLanes, equal != 0);
    const int column = lane % kBins;
    const unsigned in_tile = with_it >> (lane - column) & (kAllLanes >> (kWarp - kBins));
    const int chosen = in_tile == 0 ? 0 : __ffs(static_cast<int>(in_tile)) - 1;
    if (column == chosen && bin - column < marking.bins && first + top < marking.frames) {
      const int row = equal == 0 ? 0 : __ffs(static_cast<int>(equal)) - 1;
      const bool ties = __popc(in_tile) > 1 || __popc(equal) > 1;
      const std::ptrdiff_t tile_row = (first + top) / kFrames;
      tiles[tile_row * tile_columns + bin / kBins] = {
          level, static_cast<std::uint32_t>(row * kBins + column) | (ties ? TileMax::kTies : 0U)};
    }
  }
}

/// Blocks that a multiprocessor must have registers for: the sieve waits for memory more than it
/// computes.
constexpr int kSieveBlocks = 5;

/// Marks the peaks. A tile whose maximum more than one cell has sends one of them through the sieve
/// after another; every cell of a plateau is a peak.
template <class Tile>
__global__ void __launch_bounds__(kThreads, kSieveBlocks)
    sieve_kernel(PeakMarking marking, Reach reach, const TileMax* __restrict__ tiles, int tile_rows,
                 int tile_columns) {
  __shared__ Candidates shared;
  PeakSieve<Tile> sieve(marking, reach, tiles, tile_rows, tile_columns, shared);
  const auto thread = static_cast<int>(threadIdx.x);
  const std::ptrdiff_t index = std::ptrdiff_t{blockIdx.x} * kThreads + thread;
  const int row = static_cast<int>(index / tile_columns);
  const int column = static_cast<int>(index % tile_columns);
  TileMax mine{-INFINITY, 0};
  if (row < tile_rows) mine = tiles[index];
  const bool candidate = mine.level > marking.floor_db;
  const bool ties = (mine.cell & TileMax::kTies) != 0;
  Top top = top_of<Tile>(mine, row, column);
  int cell = candidate ? (ties ? sieve.next_tie(top, row, column, 0) : 0) : -1;

  while (__syncthreads_or(static_cast<int>(cell >= 0)) != 0) {
    if (thread == 0) shared.count = shared.doubts = 0;
    __syncthreads();
    if (cell >= 0) {
      if (ties) {
        top = top_of<Tile>({mine.level, static_cast<std::uint32_t>(cell)}, row, column);
      }
      if (!sieve.beaten_nearby(top, row, column)) {
        const int k = atomicAdd(&shared.count, 1);
        shared.top[k] = top;
        shared.beaten[k] = shared.all_in_doubt[k] = 0;
      }
    }
    __syncthreads();
    for (int k = thread; k < kSharers * shared.count; k += kThreads) {
      sieve.ask_tiles(k / kSharers, k % kSharers);
    }
    __syncthreads();
    sieve.look_into_doubts();
    __syncthreads();
    if (thread < shared.count && shared.beaten[thread] == 0) {
      mark(marking, shared.top[thread].frame, shared.top[thread].bin);
    }
    if (cell >= 0) cell = ties ? sieve.next_tie(top, row, column, cell + 1) : -1;
  }
}

template <class Tile>
void mark_by(const std::shared_ptr<Context>& context, const PeakMarking& marking,
             const Reach& reach, Array<TileMax>& tiles) {
  const int rows = (marking.frames + Tile::kFrames - 1) / Tile::kFrames;
  const int columns = (marking.bins + Tile::kBins - 1) / Tile::kBins;
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  if (tiles.size() < count) tiles = Array<TileMax>(context, count);
  const auto warps = static_cast<std::size_t>(marking.row_words) *
                     static_cast<std::size_t>((marking.frames + kWarpFrames - 1) / kWarpFrames);
  launch(*context, tile_maxima_kernel<Tile>,
         dim3(static_cast<unsigned>((warps * kWarp + kThreads - 1) / kThreads)), dim3(kThreads), 0,
         marking, columns, tiles.data());
  launch(*context, sieve_kernel<Tile>,
         dim3(static_cast<unsigned>((count + kThreads - 1) / kThreads)), dim3(kThreads), 0, marking,
         reach, tiles.data(), rows, columns);
}

/// Tiles from large to small; the smallest holds so few cells that filtering is as good.
template <class Tile, class... Smaller>
bool mark_by_largest(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                     const Reach& reach, Array<TileMax>& tiles) {
  if (Tile::fits(reach)) {
    mark_by<Tile>(context, marking, reach, tiles);
    return true;
  }
  if constexpr (sizeof...(Smaller) > 0) {
    return mark_by_largest<Smaller...>(context, marking, reach, tiles);
  }
  return false;
}

using SmallestTile = Tile<2, 4>;

__global__ void __launch_bounds__(kThreads)
    mark_maxima_kernel(PeakMarking marking, const float* __restrict__ maxima) {
  const unsigned warp = (blockIdx.x * kThreads + threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const auto row_words = static_cast<unsigned>(marking.row_words);
  const int word = static_cast<int>(warp % row_words);
  const auto frame = static_cast<int>(warp / row_words);
  if (frame >= marking.frames) return;
  const int bin = word * kWarp + lane;
  bool peak = false;
  if (bin < marking.bins) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(frame) * marking.bins + bin;
    const float level = marking.cells[at];
    peak = level == maxima[at] && level > marking.floor_db;
  }
  const unsigned found = __ballot_sync(kAllLanes, peak);
  if (lane != 0) return;
  marking.marks[static_cast<std::ptrdiff_t>(frame) * marking.row_words + word] = found;
  if (found == 0) return;
  atomicAdd(marking.counts + frame / marking.group_rows, static_cast<unsigned>(__popc(found)));
}

}  // namespace

bool reaches_a_tile(const Reach& reach) { return SmallestTile::fits(reach); }

void queue_mark_by_tiles(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                         const Reach& reach, Array<TileMax>& tiles) {
  mark_by_largest<Tile<16, 32>, Tile<8, 16>, Tile<8, 8>, Tile<4, 8>, SmallestTile>(context, marking,
                                                                                   reach, tiles);
}

void queue_mark_by_maxima(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                          const float* maxima) {
  const int groups = (marking.frames + marking.group_rows - 1) / marking.group_rows;
  context->check(
      cudaMemsetAsync(marking.counts, 0, sizeof(std::uint32_t) * static_cast<std::size_t>(groups),
                      context->stream()),
      "filling memory");
  const auto words =
      static_cast<std::size_t>(marking.row_words) * static_cast<std::size_t>(marking.frames);
  launch(*context, mark_maxima_kernel,
         dim3(static_cast<unsigned>((words * kWarp + kThreads - 1) / kThreads)), dim3(kThreads), 0,
         marking, maxima);
}

}  // namespace spintag::kernels::cuda
