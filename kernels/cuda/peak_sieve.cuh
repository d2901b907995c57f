// kernels/cuda/peak_sieve.cuh - which maxima of small tiles are peaks.
#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/peak_marks.cuh"

namespace spintag::kernels::cuda {

inline constexpr int kSieveThreads = 256;  ///< of a block

/// A tile, so small that every cell of it lies in every other's footprint: then only its maxima
/// can be peaks.
template <int kTileFrames, int kTileBins>
struct Tile {
  static constexpr int kFrames = kTileFrames;
  static constexpr int kBins = kTileBins;
  static bool fits(const Reach& reach) {
    return kFrames - 1 <= reach.frames && kBins - 1 <= reach.bins &&
           kFrames + kBins - 2 <= reach.sum;
  }
};

/// The maximum of a tile, in the array's own coordinates.
struct Top {
  float level;
  int frame;
  int bin;
};

template <class Tile>
__device__ inline Top top_of(const TileMax& tile, int tile_row, int tile_column) {
  const auto cell = static_cast<int>(tile.cell & ~TileMax::kTies);
  return {tile.level, tile_row * Tile::kFrames + cell / Tile::kBins,
          tile_column * Tile::kBins + cell % Tile::kBins};
}

__device__ inline bool holds(const Reach& reach, int frames_away, int bins_away) {
  frames_away = abs(frames_away);
  bins_away = abs(bins_away);
  return frames_away <= reach.frames && bins_away <= reach.bins &&
         frames_away + bins_away <= reach.sum;
}

/// How far [begin, begin + size) is from `at`.
__device__ inline int distance(int at, int begin, int size) {
  return max(max(begin - at, at - (begin + size - 1)), 0);
}

inline constexpr int kTilesAtOnce = 4;  ///< in flight: about a row of a footprint's tiles
inline constexpr int kSharers = 4;      ///< threads that share a candidate's neighbourhood
inline constexpr int kDoubts = 1024;    ///< tiles to look into that a block can note down

/// What a block of the kernel below knows together.
struct Candidates {
  Top top[kSieveThreads];
  int beaten[kSieveThreads];
  int all_in_doubt[kSieveThreads];  ///< of candidates for which the list of doubts was full
  int count;
  int doubt_candidate[kDoubts];
  int doubt_row[kDoubts];
  int doubt_column[kDoubts];
  int doubts;
};

/// One thread a tile. What is asked of each tile's maximum, from cheap to dear, each time by fewer:
/// does a maximum of the eight tiles around it beat it, does that of any tile of the neighbourhood,
/// and, of tiles whose maximum is higher but lies outside the footprint, does a cell inside?
template <class Tile>
class PeakSieve {
 public:
  __device__ PeakSieve(const PeakMarking& marking, const Reach& reach, const TileMax* tiles,
                       int tile_rows, int tile_columns, Candidates& shared)
      : marking_(marking),
        reach_(reach),
        tiles_(tiles),
        tile_rows_(tile_rows),
        tile_columns_(tile_columns),
        shared_(shared) {}

  __device__ TileMax tile(int row, int column) const {
    return tiles_[static_cast<std::ptrdiff_t>(row) * tile_columns_ + column];
  }

  __device__ bool beaten_nearby(const Top& top, int row, int column) const {
    constexpr int kAround = 9;  // in flight together, the tile itself among them
    TileMax found[kAround];
#pragma unroll
    for (int k = 0; k < kAround; ++k) {
      const int r = row + k / 3 - 1;
      const int c = column + k % 3 - 1;
      const bool there =
          k != kAround / 2 && r >= 0 && r < tile_rows_ && c >= 0 && c < tile_columns_;
      found[k] = there ? tile(r, c) : TileMax{-INFINITY, 0};
    }
    bool beaten = false;
#pragma unroll
    for (int k = 0; k < kAround; ++k) {
      const Top other = top_of<Tile>(found[k], row + k / 3 - 1, column + k % 3 - 1);
      beaten |=
          other.level > top.level && holds(reach_, other.frame - top.frame, other.bin - top.bin);
    }
    return beaten;
  }

  /// Every kSharers-th row of tiles that the footprint touches.
  __device__ void ask_tiles(int candidate, int share) {
    const Top top = shared_.top[candidate];
    const int first_row = max(top.frame - reach_.frames, 0) / Tile::kFrames;
    const int last_row = min((top.frame + reach_.frames) / Tile::kFrames, tile_rows_ - 1);
    for (int row = first_row + share; row <= last_row; row += kSharers) {
      const int away = distance(top.frame, row * Tile::kFrames, Tile::kFrames);
      const int width = min(reach_.bins, reach_.sum - away);  // of the footprint's widest row here
      const int first_column = max(top.bin - width, 0) / Tile::kBins;
      const int last_column = min((top.bin + width) / Tile::kBins, tile_columns_ - 1);
      for (int column = first_column; column <= last_column; column += kTilesAtOnce) {
        TileMax found[kTilesAtOnce];
#pragma unroll
        for (int k = 0; k < kTilesAtOnce; ++k) {
          found[k] = column + k <= last_column ? tile(row, column + k) : TileMax{-INFINITY, 0};
        }
#pragma unroll
        for (int k = 0; k < kTilesAtOnce; ++k) {
          if (!(found[k].level > top.level)) continue;
          const Top other = top_of<Tile>(found[k], row, column + k);
          if (holds(reach_, other.frame - top.frame, other.bin - top.bin)) {
            shared_.beaten[candidate] = 1;
            return;
          }
          doubt(candidate, row, column + k);
        }
      }
    }
  }

  /// One column of a tile in doubt.
  __device__ void look_into(int candidate, int row, int column, int tile_bin) {
    const Top top = shared_.top[candidate];
    const int bin = column * Tile::kBins + tile_bin;
    if (bin >= marking_.bins) return;
    bool beaten = false;
#pragma unroll
    for (int j = 0; j < Tile::kFrames; ++j) {
      const int frame = row * Tile::kFrames + j;
      const bool asked = frame < marking_.frames && holds(reach_, frame - top.frame, bin - top.bin);
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(frame) * marking_.bins + bin;
      beaten |= asked && marking_.cells[at] > top.level;
    }
    if (beaten) shared_.beaten[candidate] = 1;
  }

  __device__ void look_into_doubts() {
    const int doubts = min(shared_.doubts, kDoubts);
    for (int k = static_cast<int>(threadIdx.x) / Tile::kBins; k < doubts;
         k += kSieveThreads / Tile::kBins) {
      const int candidate = shared_.doubt_candidate[k];
      if (shared_.beaten[candidate] != 0) continue;
      look_into(candidate, shared_.doubt_row[k], shared_.doubt_column[k],
                static_cast<int>(threadIdx.x) % Tile::kBins);
    }
    if (shared_.doubts <= kDoubts) return;
    for (int k = 0; k < shared_.count; ++k) {
      if (shared_.all_in_doubt[k] != 0) look_at_all(k);
    }
  }

  /// The first cell of a tile at or after `begin` that equals its maximum; -1 if there is none.
  __device__ int next_tie(const Top& top, int row, int column, int begin) const {
    for (int cell = begin; cell < Tile::kFrames * Tile::kBins; ++cell) {
      const int frame = row * Tile::kFrames + cell / Tile::kBins;
      const int bin = column * Tile::kBins + cell % Tile::kBins;
      if (frame >= marking_.frames) break;
      if (bin >= marking_.bins) continue;
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(frame) * marking_.bins + bin;
      if (marking_.cells[at] == top.level) return cell;
    }
    return -1;
  }

 private:
  __device__ void doubt(int candidate, int row, int column) {
    const int k = atomicAdd(&shared_.doubts, 1);
    if (k >= kDoubts) {
      shared_.all_in_doubt[candidate] = 1;
      return;
    }
    shared_.doubt_candidate[k] = candidate;
    shared_.doubt_row[k] = row;
    shared_.doubt_column[k] = column;
  }

  /// Every cell of the footprint, by the whole block.
  __device__ void look_at_all(int candidate) {
    const Top top = shared_.top[candidate];
    const int first_bin = max(top.bin - reach_.bins, 0);
    const int end_bin = min(top.bin + reach_.bins + 1, marking_.bins);
    const int end_frame = min(top.frame + reach_.frames + 1, marking_.frames);
    for (int frame = max(top.frame - reach_.frames, 0); frame < end_frame; ++frame) {
      const float* row = marking_.cells + static_cast<std::ptrdiff_t>(frame) * marking_.bins;
      for (int bin = first_bin + static_cast<int>(threadIdx.x); bin < end_bin;
           bin += kSieveThreads) {
        if (holds(reach_, frame - top.frame, bin - top.bin) && row[bin] > top.level) {
          shared_.beaten[candidate] = 1;
        }
      }
    }
  }

  const PeakMarking& marking_;
  const Reach& reach_;
  const TileMax* __restrict__ tiles_;
  int tile_rows_;
  int tile_columns_;
  Candidates& shared_;
};

}  // namespace spintag::kernels::cuda
