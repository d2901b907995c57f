// kernels/cuda/peak_tiles.cuh - which maxima of small tiles can be peaks, and which are.
#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/peak_marks.cuh"

namespace spintag::kernels::cuda {

inline constexpr int kWarpLanes = 32;
inline constexpr unsigned kWholeWarp = 0xFFFFFFFFU;
inline constexpr int kMostStripWords = 6;  ///< a warp each

/// A tile, so small that every cell of it lies in every other's footprint: then only its maxima
/// can be peaks. At most 32 cells.
template <int kTileFrames, int kTileBins>
struct Tile {
  static constexpr int kFrames = kTileFrames;
  static constexpr int kBins = kTileBins;
  /// Loads of a lane in flight that hold the smallest footprint it is for, or nearly.
  static constexpr int kAtOnce = kFrames * kBins / 4;
  static bool fits(const Reach& reach) {
    return kFrames - 1 <= reach.frames && kBins - 1 <= reach.bins &&
           kFrames + kBins - 2 <= reach.sum;
  }
};

/// A tile's maximum, and which of its cells have it: bit frame * kBins + bin.
struct alignas(8) Top {
  float level;
  std::uint32_t cells;
};

/// The tiles of a region, with nothing around them, so that each has neighbours.
template <class Tile>
struct TileGrid {
  static constexpr int kRows = kRegionRows / Tile::kFrames;
  static constexpr int kWordColumns = kWarpLanes / Tile::kBins;
  static constexpr int kMarginRows = 2;
  static constexpr int kPitch = kMostStripWords * kWordColumns + 4;  // 4: few bank conflicts
  static constexpr int kSize = (kRows + 2 * kMarginRows) * kPitch;

  __device__ static int index(int row, int column) {
    return (row + kMarginRows) * kPitch + column + 1;
  }
  Top tops[kSize];
};

/// In the tile, where the first cell is that has its maximum; anything if none has.
template <class Tile>
__device__ __forceinline__ int first_frame_of(const Top& top) {
  return static_cast<int>(static_cast<unsigned>(__clz(static_cast<int>(__brev(top.cells)))) /
                          Tile::kBins);
}
template <class Tile>
__device__ __forceinline__ int first_bin_of(const Top& top) {
  return static_cast<int>(static_cast<unsigned>(__clz(static_cast<int>(__brev(top.cells)))) %
                          Tile::kBins);
}

/// Without branches: 1 or 0.
__device__ __forceinline__ unsigned holds(const Reach& reach, int frames_away, int bins_away) {
  frames_away = abs(frames_away);
  bins_away = abs(bins_away);
  return static_cast<unsigned>(frames_away <= reach.frames) &
         static_cast<unsigned>(bins_away <= reach.bins) &
         static_cast<unsigned>(frames_away + bins_away <= reach.sum);
}

/// kRows cells of a bin, all in flight together; minus infinity beyond the array.
template <int kRows>
struct ColumnCells {
  __device__ __forceinline__ ColumnCells(const PeakMarking& marking, int first, int bin) {
    const float* row = marking.cells + static_cast<std::ptrdiff_t>(first) * marking.bins + bin;
    const int rows = bin < marking.bins ? marking.frames - first : 0;
    if (rows >= kRows) {
#pragma unroll
      for (int j = 0; j < kRows; ++j, row += marking.bins) cell[j] = *row;
    } else {
#pragma unroll
      for (int j = 0; j < kRows; ++j, row += marking.bins) cell[j] = j < rows ? *row : -INFINITY;
    }
  }
  float cell[kRows];
};

/// A warp's 32 bins: finds the tops of their tiles.
/// @param first_row  of tiles
/// @param column     of tiles, the lane's
template <class Tile, int kRows>
__device__ __forceinline__ void find_tops(const ColumnCells<kRows>& column_cells, int first_row,
                                          int column, TileGrid<Tile>& grid) {
  const float(&cell)[kRows] = column_cells.cell;
#pragma unroll
  for (int top = 0; top < kRows; top += Tile::kFrames) {
    float level = cell[top];
#pragma unroll
    for (int j = 1; j < Tile::kFrames; ++j) level = fmaxf(level, cell[top + j]);
#pragma unroll
    for (int step = Tile::kBins / 2; step > 0; step /= 2) {
      level = fmaxf(level, __shfl_xor_sync(kWholeWarp, level, step));
    }
    std::uint32_t equal = 0;
#pragma unroll
    for (int j = 0; j < Tile::kFrames; ++j) {
      if (cell[top + j] == level) equal |= 1U << static_cast<unsigned>(j * Tile::kBins);
    }
    Top& mine = grid.tops[TileGrid<Tile>::index(first_row + top / Tile::kFrames, column)];
    if (threadIdx.x % Tile::kBins == 0) mine.level = level;
    if (equal != 0) atomicOr(&mine.cells, equal << threadIdx.x % Tile::kBins);
  }
}

/// Whether one cell of each neighbouring tile that has its maximum beats the only one of this tile.
/// These tiles decide nearly all: of random cells 1 in 6 tiles is left, and 1 in 7 has a peak.
template <class Tile>
__device__ __forceinline__ bool beaten_nearby(const TileGrid<Tile>& grid, int index,
                                              const Top& mine, const Reach& reach) {
  const int frame = first_frame_of<Tile>(mine);
  const int bin = first_bin_of<Tile>(mine);
  unsigned beaten = 0;
#pragma unroll
  for (int row = -2; row <= 2; ++row) {
#pragma unroll
    for (int column = -1; column <= 1; ++column) {
      if ((row == 0 && column == 0) || (abs(row) == 2 && column != 0)) continue;
      const Top other = grid.tops[index + row * TileGrid<Tile>::kPitch + column];
      beaten |= static_cast<unsigned>(other.level > mine.level) &
                holds(reach, row * Tile::kFrames + first_frame_of<Tile>(other) - frame,
                      column * Tile::kBins + first_bin_of<Tile>(other) - bin);
    }
  }
  return beaten != 0;
}

template <int kAtOnce>
__device__ __forceinline__ void load_offsets(const FootprintCells& footprint, int begin,
                                             unsigned (&offset)[kAtOnce]) {
  const int lane = static_cast<int>(threadIdx.x % kWarpLanes);
#pragma unroll
  for (int k = 0; k < kAtOnce; ++k) offset[k] = footprint.offsets[begin + k * kWarpLanes + lane];
}

/// A warp looks at a footprint, all of which lies in the array.
/// @param corner  lowest cell of the box around it
/// @param first   the lane's offsets of the first kAtOnce warps full
template <int kAtOnce>
__device__ __forceinline__ bool beaten_inside(const float* corner, float level,
                                              const unsigned (&first)[kAtOnce],
                                              const FootprintCells& footprint) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(corner);
  const auto most_of = [&](const unsigned(&offset)[kAtOnce]) {
    float cell[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      cell[k] = *reinterpret_cast<const float*>(bytes + offset[k]);
    }
    float most = cell[0];
#pragma unroll
    for (int k = 1; k < kAtOnce; ++k) most = fmaxf(most, cell[k]);
    return most;
  };
  if (__any_sync(kWholeWarp, static_cast<int>(most_of(first) > level)) != 0) return true;
  for (int begin = kAtOnce * kWarpLanes; begin < footprint.size; begin += kAtOnce * kWarpLanes) {
    unsigned offset[kAtOnce];
    load_offsets(footprint, begin, offset);
    if (__any_sync(kWholeWarp, static_cast<int>(most_of(offset) > level)) != 0) return true;
  }
  return false;
}

/// A warp looks at what of a cell's footprint lies in the array.
__device__ inline bool beaten_at_edge(const PeakMarking& marking, const Reach& reach, int frame,
                                      int bin, float level) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int end = min(frame + reach.frames + 1, marking.frames);
  bool beaten = false;
#pragma unroll 4
  for (int f = max(frame - reach.frames, 0); f < end; ++f) {
    const float* row = marking.cells + static_cast<std::ptrdiff_t>(f) * marking.bins;
    const int width = reach.bins_at(f - frame);
    const int last = min(bin + width, marking.bins - 1);
    for (int b = max(bin - width, 0) + lane; b <= last; b += kWarpLanes) beaten |= row[b] > level;
  }
  return __any_sync(kWholeWarp, static_cast<int>(beaten)) != 0;
}

}  // namespace spintag::kernels::cuda
