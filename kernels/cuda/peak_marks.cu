// kernels/cuda/peak_marks.cu - which cells of a spectrogram are peaks, as bits.
#include "kernels/cuda/peak_marks.cuh"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/peak_tiles.cuh"

namespace spintag::kernels::cuda {
namespace {

constexpr unsigned kThreads = kMostStripWords * kWarpLanes;
constexpr int kBlocks = 8;  ///< of a multiprocessor

/// What a block of the kernel below knows of a region.
template <class Tile>
struct Region {
  __device__ void clear() {
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < TileGrid<Tile>::kSize; i += blockDim.x) {
      grid.tops[i] = {-INFINITY, 0};
    }
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < kRegionRows * kMostStripWords; i += blockDim.x) {
      marks[i / kMostStripWords][i % kMostStripWords] = 0;
    }
  }

  TileGrid<Tile> grid;
  std::uint32_t marks[kRegionRows][kMostStripWords];
};

/// A warp marks the peaks of a word's bins. A lane has a tile, and those of its cells that may be
/// peaks: none if a neighbour beats the only one that has the tile's maximum. The warp looks at the
/// footprint of each lane's first such cell, then of the second, if there are ties, and so on.
/// @param offsets  the lane's first of the footprint
/// @return how many peaks the lane's tiles have
template <class Tile>
__device__ __forceinline__ int mark_word(const PeakMarking& marking, const Reach& reach,
                                         const FootprintCells& footprint,
                                         const unsigned (&offsets)[Tile::kAtOnce], int first_frame,
                                         int first_bin, int word, Region<Tile>& region) {
  using Grid = TileGrid<Tile>;
  const unsigned lane = threadIdx.x % kWarpLanes;
  const float* corner = marking.cells +
                        static_cast<std::ptrdiff_t>(first_frame - reach.frames) * marking.bins +
                        (first_bin - reach.bins);
  int peaks = 0;
#pragma unroll
  for (int tiles = 0; tiles < Grid::kRows; tiles += kWarpLanes / Grid::kWordColumns) {
    const int tile_row = tiles + static_cast<int>(lane / Grid::kWordColumns);
    const int tile_column = word * Grid::kWordColumns + static_cast<int>(lane % Grid::kWordColumns);
    const int index = Grid::index(tile_row, tile_column);
    Top mine = region.grid.tops[index];
    if (!(mine.level > marking.floor_db)) mine.cells = 0;
    const bool alone = mine.cells != 0 && (mine.cells & (mine.cells - 1)) == 0;
    if (alone && beaten_nearby(region.grid, index, mine, reach)) mine.cells = 0;
    for (; __any_sync(kWholeWarp, static_cast<int>(mine.cells != 0)) != 0;
         mine.cells &= mine.cells - 1) {
      const int row = tile_row * Tile::kFrames + first_frame_of<Tile>(mine);
      const int column = tile_column * Tile::kBins + first_bin_of<Tile>(mine);
      const int frame = first_frame + row;
      const int bin = first_bin + column;
      const bool inside = frame >= reach.frames && frame + reach.frames < marking.frames &&
                          bin >= reach.bins && bin + reach.bins < marking.bins;
      const unsigned all_inside = __ballot_sync(kWholeWarp, inside);
      const unsigned away = static_cast<unsigned>(row * marking.bins + column);
      unsigned peak_lanes = 0;
      for (unsigned left = __ballot_sync(kWholeWarp, mine.cells != 0); left != 0;
           left &= left - 1) {
        const int one = __ffs(static_cast<int>(left)) - 1;
        const float level = __shfl_sync(kWholeWarp, mine.level, one);
        bool beaten = false;
        if ((all_inside >> static_cast<unsigned>(one) & 1U) != 0) {
          beaten =
              beaten_inside(corner + __shfl_sync(kWholeWarp, away, one), level, offsets, footprint);
        } else {
          beaten = beaten_at_edge(marking, reach, __shfl_sync(kWholeWarp, frame, one),
                                  __shfl_sync(kWholeWarp, bin, one), level);
        }
        if (!beaten) peak_lanes |= left & (0U - left);
      }
      if ((peak_lanes >> lane & 1U) == 0) continue;
      ++peaks;
      atomicOr(&region.marks[row][word], 1U << static_cast<unsigned>(column % kWarpLanes));
    }
  }
  return peaks;
}

/// A block has a strip of a group of rows, a region of kRegionRows rows at a time, a warp each
/// word: finds the tops of its tiles, which of them no neighbour beats, and looks at the footprints
/// of those, which were read a moment ago.
template <class Tile>
__global__ void __launch_bounds__(kThreads, kBlocks)
    mark_by_tiles_kernel(PeakMarking marking, Reach reach, FootprintCells footprint) {
  constexpr int kRows = 16;  // of a bin that are in flight together
  __shared__ Region<Tile> region;
  __shared__ unsigned peaks;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpLanes;
  const int word = thread / kWarpLanes;
  const int warps = static_cast<int>(blockDim.x / kWarpLanes);
  const int first_word = static_cast<int>(blockIdx.x) * marking.strip_words;
  const int first_bin = first_word * kWarpLanes;
  const int first_frame = static_cast<int>(blockIdx.y) * marking.group_rows;
  const int end_frame = min(first_frame + marking.group_rows, marking.frames);
  if (thread == 0) peaks = 0;
  int found = 0;
  for (int frame = first_frame; frame < end_frame; frame += kRegionRows) {
    ColumnCells<kRows> cells(marking, frame, first_bin + thread);
    region.clear();
    __syncthreads();
#pragma unroll
    for (int row = 0; row < kRegionRows; row += kRows) {
      if (row > 0) cells = ColumnCells<kRows>(marking, frame + row, first_bin + thread);
      find_tops(cells, row / Tile::kFrames, thread / Tile::kBins, region.grid);
    }
    unsigned offsets[Tile::kAtOnce];
    load_offsets(footprint, 0, offsets);
    __syncthreads();
    found += mark_word(marking, reach, footprint, offsets, frame, first_bin, word, region);
    __syncthreads();
    for (int row = word; row < min(kRegionRows, end_frame - frame); row += warps) {
      if (lane >= warps || first_word + lane >= marking.row_words) continue;
      marking
          .marks[static_cast<std::ptrdiff_t>(frame + row) * marking.row_words + first_word + lane] =
          region.marks[row][lane];
    }
    __syncthreads();
  }
  const unsigned of_warp = __reduce_add_sync(kWholeWarp, static_cast<unsigned>(found));
  if (lane == 0 && of_warp > 0) atomicAdd(&peaks, of_warp);
  __syncthreads();
  if (thread == 0) marking.counts[blockIdx.y * gridDim.x + blockIdx.x] = peaks;
}

constexpr int kMostFootprintCells = 2048;  ///< a larger footprint is better filtered

int footprint_cells(const Reach& reach) {
  int cells = 0;
  for (int row = -reach.frames; row <= reach.frames && cells <= kMostFootprintCells; ++row) {
    cells += 2 * reach.bins_at(row) + 1;
  }
  return cells;
}

/// @param load  cells that a warp looks at together
std::vector<std::uint32_t> footprint_offsets(const Reach& reach, int bins, std::size_t load) {
  std::vector<std::uint32_t> offsets;
  const auto add = [&](int row, int column) {
    const std::size_t cells =
        static_cast<std::size_t>(row + reach.frames) * static_cast<std::size_t>(bins) +
        static_cast<std::size_t>(column + reach.bins);
    offsets.push_back(static_cast<std::uint32_t>(sizeof(float) * cells));
  };
  for (int away = 0; away <= reach.frames; ++away) {
    const int width = reach.bins_at(away);
    for (int column = -width; column <= width; ++column) {
      add(away, column);
      if (away > 0) add(-away, column);
    }
  }
  while (offsets.size() % load != 0) add(0, 0);
  return offsets;
}

/// Takes the first tile that fits, from large to small.
template <class Tile, class... Smaller>
void mark_by(const std::shared_ptr<Context>& context, const PeakMarking& marking,
             const Reach& reach, FootprintScratch& scratch) {
  if constexpr (sizeof...(Smaller) > 0) {
    if (!Tile::fits(reach)) return mark_by<Smaller...>(context, marking, reach, scratch);
  }
  if (scratch.bins != marking.bins || scratch.reach != reach) {
    const auto made =
        footprint_offsets(reach, marking.bins, std::size_t{Tile::kAtOnce} * kWarpLanes);
    scratch.offsets = Array<std::uint32_t>(context, std::span<const std::uint32_t>(made));
    scratch.reach = reach;
    scratch.bins = marking.bins;
  }
  const FootprintCells footprint{scratch.offsets.data(), static_cast<int>(scratch.offsets.size())};
  const int groups = (marking.frames + marking.group_rows - 1) / marking.group_rows;
  launch(*context, mark_by_tiles_kernel<Tile>,
         dim3(static_cast<unsigned>(marking.strips), static_cast<unsigned>(groups)),
         dim3(static_cast<unsigned>(marking.strip_words * kWarpLanes)), 0, marking, reach,
         footprint);
}

using SmallestTile = Tile<2, 4>;

__global__ void __launch_bounds__(kThreads)
    mark_maxima_kernel(PeakMarking marking, const float* __restrict__ maxima) {
  const unsigned warp = (blockIdx.x * kThreads + threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x % kWarpLanes);
  const auto row_words = static_cast<unsigned>(marking.row_words);
  const int word = static_cast<int>(warp % row_words);
  const auto frame = static_cast<int>(warp / row_words);
  if (frame >= marking.frames) return;
  const int bin = word * kWarpLanes + lane;
  bool peak = false;
  if (bin < marking.bins) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(frame) * marking.bins + bin;
    const float level = marking.cells[at];
    peak = level == maxima[at] && level > marking.floor_db;
  }
  const unsigned found = __ballot_sync(kWholeWarp, peak);
  if (lane != 0) return;
  marking.marks[static_cast<std::ptrdiff_t>(frame) * marking.row_words + word] = found;
  if (found == 0) return;
  const int part = frame / marking.group_rows * marking.strips + word / marking.strip_words;
  atomicAdd(marking.counts + part, static_cast<unsigned>(__popc(found)));
}

}  // namespace

int strip_words(int row_words) {
  int best = std::min(row_words, kMostStripWords);
  const auto idle = [&](int words) { return (row_words + words - 1) / words * words - row_words; };
  for (int words = best; words >= kMostStripWords / 2; --words) {
    if (idle(words) < idle(best)) best = words;
  }
  return best;
}

bool marks_by_tiles(const PeakMarking& marking, const Reach& reach) {
  const auto farthest = 2 * (std::int64_t{reach.frames} * marking.bins + reach.bins);
  constexpr int kMostBins = 1 << 24;  // so that a region's cells are counted in 32 bits
  return SmallestTile::fits(reach) && marking.bins <= kMostBins &&
         std::max(reach.frames, reach.bins) <= kMostFootprintCells &&
         footprint_cells(reach) <= kMostFootprintCells &&
         farthest <= std::numeric_limits<std::uint32_t>::max() / std::int64_t{sizeof(float)};
}

void queue_mark_by_tiles(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                         const Reach& reach, FootprintScratch& scratch) {
  mark_by<Tile<4, 8>, Tile<4, 4>, SmallestTile>(context, marking, reach, scratch);
}

void queue_mark_by_maxima(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                          const float* maxima) {
  const std::size_t groups =
      static_cast<std::size_t>((marking.frames + marking.group_rows - 1) / marking.group_rows);
  context->check(
      cudaMemsetAsync(marking.counts, 0,
                      sizeof(std::uint32_t) * groups * static_cast<std::size_t>(marking.strips),
                      context->stream()),
      "filling memory");
  const auto words =
      static_cast<std::size_t>(marking.row_words) * static_cast<std::size_t>(marking.frames);
  launch(*context, mark_maxima_kernel,
         dim3(static_cast<unsigned>((words * kWarpLanes + kThreads - 1) / kThreads)),
         dim3(kThreads), 0, marking, maxima);
}

}  // namespace spintag::kernels::cuda
