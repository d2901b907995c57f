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

/// What a block of the kernel below knows of a region.
template <class Tile>
struct Region {
  __device__ void clear() {
    const auto threads = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < TileGrid<Tile>::kSize; i += threads) {
      grid.tops[i] = {-INFINITY, 0};
    }
    for (int i = static_cast<int>(threadIdx.x); i < kRegionRows * kMostStripWords; i += threads) {
      marks[i / kMostStripWords][i % kMostStripWords] = 0;
    }
    if (threadIdx.x == 0) candidates = 0;
  }

  TileGrid<Tile> grid;
  std::uint16_t candidate[TileGrid<Tile>::kSize];  ///< tiles that may have a peak
  int candidates;
  std::uint32_t marks[kRegionRows][kMostStripWords];
};

/// A warp's tiles: notes down which may have a peak. One with several maxima always may.
template <class Tile>
__device__ __forceinline__ void find_candidates(const PeakMarking& marking, const Reach& reach,
                                                int word, Region<Tile>& region) {
  using Grid = TileGrid<Tile>;
  const unsigned lane = threadIdx.x % kWarpLanes;
  const int lane_row = static_cast<int>(lane / Grid::kWordColumns);
  const int column = word * Grid::kWordColumns + static_cast<int>(lane % Grid::kWordColumns);
#pragma unroll
  for (int row = 0; row < Grid::kRows; row += kWarpLanes / Grid::kWordColumns) {
    const int index = Grid::index(row + lane_row, column);
    const Top mine = region.grid.tops[index];
    if (!(mine.level > marking.floor_db)) continue;
    const bool ties = (mine.cells & (mine.cells - 1)) != 0;
    if (!ties && beaten_nearby(region.grid, index, mine, reach)) continue;
    region.candidate[atomicAdd(&region.candidates, 1)] = static_cast<std::uint16_t>(index);
  }
}

/// A warp's candidate: looks at the whole footprint of each cell that has the tile's maximum.
/// @param offsets  the lane's first of the footprint
/// @return how many peaks it has
template <class Tile>
__device__ __forceinline__ int mark_peaks(const PeakMarking& marking, const Reach& reach,
                                          const FootprintCells& footprint,
                                          const unsigned (&offsets)[Tile::kAtOnce], int first_frame,
                                          int first_bin, int index, Region<Tile>& region) {
  using Grid = TileGrid<Tile>;
  const Top top = region.grid.tops[index];
  int peaks = 0;
  for (std::uint32_t left = top.cells; left != 0; left &= left - 1) {
    const int cell = __ffs(static_cast<int>(left)) - 1;
    const int row = Grid::row(index) * Tile::kFrames + cell / Tile::kBins;
    const int column = Grid::column(index) * Tile::kBins + cell % Tile::kBins;
    const int frame = first_frame + row;
    const int bin = first_bin + column;
    const bool inside = frame >= reach.frames && frame + reach.frames < marking.frames &&
                        bin >= reach.bins && bin + reach.bins < marking.bins;
    const float* corner = marking.cells +
                          static_cast<std::ptrdiff_t>(frame - reach.frames) * marking.bins + bin -
                          reach.bins;
    if (inside ? beaten_inside(corner, top.level, offsets, footprint)
               : beaten_at_edge(marking, reach, frame, bin, top.level)) {
      continue;
    }
    ++peaks;
    if (threadIdx.x % kWarpLanes == 0) {
      atomicOr(&region.marks[row][column / kWarpLanes],
               1U << static_cast<unsigned>(column % kWarpLanes));
    }
  }
  return peaks;
}

constexpr int kThreads = kMostStripWords * kWarpLanes;
constexpr int kBlocks = 8;  ///< of a multiprocessor: what they read together fits its cache

/// A block has a strip of a group of rows, a region of kRegionRows rows at a time: finds the tops
/// of its tiles, which of them no neighbour beats, and looks at the footprints of those, which were
/// read a moment ago.
template <class Tile>
__global__ void __launch_bounds__(kThreads, kBlocks)
    mark_by_tiles_kernel(PeakMarking marking, Reach reach, FootprintCells footprint) {
  constexpr int kRows = 16;  // of a bin that are in flight together
  __shared__ Region<Tile> region;
  __shared__ std::uint32_t peaks;
  const int lane = static_cast<int>(threadIdx.x % kWarpLanes);
  const int warp = static_cast<int>(threadIdx.x / kWarpLanes);
  const int warps = static_cast<int>(blockDim.x) / kWarpLanes;
  const auto strips = static_cast<unsigned>(marking.strips);
  const int first_word = static_cast<int>(blockIdx.x % strips) * marking.strip_words;
  const int first_bin = first_word * kWarpLanes;
  const int first_frame = static_cast<int>(blockIdx.x / strips) * marking.group_rows;
  const int end_frame = min(first_frame + marking.group_rows, marking.frames);
  const int thread = static_cast<int>(threadIdx.x);
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
    __syncthreads();
    find_candidates(marking, reach, warp, region);
    unsigned offsets[Tile::kAtOnce];
    load_offsets(footprint, 0, offsets);
    __syncthreads();
    for (int k = warp; k < region.candidates; k += warps) {
      found += mark_peaks(marking, reach, footprint, offsets, frame, first_bin, region.candidate[k],
                          region);
    }
    __syncthreads();
    const int word = first_word + lane;
    for (int row = warp; row < min(kRegionRows, end_frame - frame); row += warps) {
      if (lane >= marking.strip_words || word >= marking.row_words) continue;
      marking.marks[static_cast<std::ptrdiff_t>(frame + row) * marking.row_words + word] =
          region.marks[row][lane];
    }
    __syncthreads();
  }
  if (lane == 0 && found > 0) atomicAdd(&peaks, static_cast<std::uint32_t>(found));
  __syncthreads();
  if (thread == 0) marking.counts[blockIdx.x] = peaks;
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
         dim3(static_cast<unsigned>(groups) * static_cast<unsigned>(marking.strips)),
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
  return SmallestTile::fits(reach) && std::max(reach.frames, reach.bins) <= kMostFootprintCells &&
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
