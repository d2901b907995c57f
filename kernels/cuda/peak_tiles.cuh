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
inline constexpr int kMostStripWords = 12;  ///< a warp each

/// A tile, so small that every cell of it lies in every other's footprint: then only its maxima
/// can be peaks. At most 32 cells.
template <int kTileFrames, int kTileBins>
struct Tile {
  static constexpr int kFrames = kTileFrames;
  static constexpr int kBins = kTileBins;
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
  __device__ static int row(int index) { return index / kPitch - kMarginRows; }
  __device__ static int column(int index) { return index % kPitch - 1; }

  Top tops[kSize];
};

__device__ inline bool holds(const Reach& reach, int frames_away, int bins_away) {
  frames_away = abs(frames_away);
  bins_away = abs(bins_away);
  return frames_away <= reach.frames && bins_away <= reach.bins &&
         frames_away + bins_away <= reach.sum;
}

/// kRows cells of a bin, all in flight together; minus infinity beyond the array.
template <int kRows>
struct ColumnCells {
  __device__ ColumnCells(const PeakMarking& marking, int first, int bin) {
    const float* row = marking.cells + static_cast<std::ptrdiff_t>(first) * marking.bins + bin;
    const int rows = bin < marking.bins ? marking.frames - first : 0;
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      cell[j] = j < rows ? row[static_cast<std::ptrdiff_t>(j) * marking.bins] : -INFINITY;
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
  const int tile_bin = static_cast<int>(threadIdx.x) % Tile::kBins;
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
    if (equal != 0) {  // whoever has it writes the same level
      mine.level = level;
      atomicOr(&mine.cells, equal << static_cast<unsigned>(tile_bin));
    }
  }
}

/// Whether one cell of each neighbouring tile that has its maximum beats the only one of this tile.
/// These tiles decide nearly all: of random cells 1 in 6 tiles is left, and 1 in 7 has a peak.
template <class Tile>
__device__ __forceinline__ bool beaten_nearby(const TileGrid<Tile>& grid, int index,
                                              const Top& mine, const Reach& reach) {
  const int cell = __ffs(static_cast<int>(mine.cells)) - 1;
  bool beaten = false;
#pragma unroll
  for (int row = -2; row <= 2; ++row) {
#pragma unroll
    for (int column = -1; column <= 1; ++column) {
      if ((row == 0 && column == 0) || (abs(row) == 2 && column != 0)) continue;
      const Top other = grid.tops[index + row * TileGrid<Tile>::kPitch + column];
      const int at = __ffs(static_cast<int>(other.cells)) - 1;
      beaten |= other.level > mine.level &&
                holds(reach, row * Tile::kFrames + at / Tile::kBins - cell / Tile::kBins,
                      column * Tile::kBins + at % Tile::kBins - cell % Tile::kBins);
    }
  }
  return beaten;
}

/// Where a footprint's cells lie from its middle in the array, row after row, filled up with the
/// middle to whole warps.
struct FootprintCells {
  static constexpr int kMost = 2048;  ///< a larger footprint is better filtered

  /// How many there are, filled up.
  static int size(const Reach& reach) {
    std::ptrdiff_t cells = 0;
    for (int row = -reach.frames; row <= reach.frames && cells <= kMost; ++row) {
      cells += row_cells(reach, row);
    }
    return static_cast<int>((cells + kWarpLanes - 1) / kWarpLanes * kWarpLanes);
  }

  /// By the whole block.
  __device__ static void write(const Reach& reach, int bins, int size, int* offsets) {
    const auto thread = static_cast<int>(threadIdx.x);
    for (int row = thread - reach.frames; row <= reach.frames;
         row += static_cast<int>(blockDim.x)) {
      int at = 0;
      for (int before = -reach.frames; before < row; ++before) at += row_cells(reach, before);
      const int end = at + row_cells(reach, row);
      for (int offset = row * bins - row_cells(reach, row) / 2; at < end; ++at, ++offset) {
        offsets[at] = offset;
      }
      if (row != reach.frames) continue;
      for (; at < size; ++at) offsets[at] = 0;
    }
  }

  __host__ __device__ static int row_cells(const Reach& reach, int row) {
    const int left = reach.sum - (row < 0 ? -row : row);
    return 2 * (left < reach.bins ? left : reach.bins) + 1;
  }
};

/// A warp looks at a cell's footprint, all of which lies in the array.
__device__ inline bool beaten_inside(const float* cell, float level, const int* offsets, int size) {
  constexpr int kAtOnce = 8;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  for (int begin = 0; begin < size; begin += kAtOnce * kWarpLanes) {
    float other[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int at = begin + k * kWarpLanes;
      other[k] = at < size ? cell[offsets[at + lane]] : -INFINITY;
    }
    float most = other[0];
#pragma unroll
    for (int k = 1; k < kAtOnce; ++k) most = fmaxf(most, other[k]);
    if (__any_sync(kWholeWarp, static_cast<int>(most > level)) != 0) return true;
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
    const int width = FootprintCells::row_cells(reach, f - frame) / 2;
    const int last = min(bin + width, marking.bins - 1);
    for (int b = max(bin - width, 0) + lane; b <= last; b += kWarpLanes) beaten |= row[b] > level;
  }
  return __any_sync(kWholeWarp, static_cast<int>(beaten)) != 0;
}

}  // namespace spintag::kernels::cuda
