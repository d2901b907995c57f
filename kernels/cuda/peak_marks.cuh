// kernels/cuda/peak_marks.cuh - which cells of a spectrogram are peaks, as bits.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/peaks.cuh"

namespace spintag::kernels::cuda {

/// What the kernels that mark peaks are given.
struct PeakMarking {
  const float* cells;  ///< [frames, bins]
  int frames;
  int bins;
  float floor_db;
  std::uint32_t* marks;  ///< [frames, row_words]: bit bin % 32 of word bin / 32
  int row_words;
  std::uint32_t* counts;  ///< peaks in rows [g * group_rows, (g + 1) * group_rows)
  int group_rows;
};

/// Which cells a box or a diamond holds: |frames away| <= frames, |bins away| <= bins, both
/// together <= sum.
struct Reach {
  int frames;
  int bins;
  int sum;
};

/// Writes all marks and counts, for a reach of at least a tile (frames >= 1, bins >= 3, sum >= 4).
void queue_mark_by_tiles(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                         const Reach& reach, Array<TileMax>& tiles);

/// Whether queue_mark_by_tiles() can do it.
bool reaches_a_tile(const Reach& reach);

/// The same from the sliding maximum.
void queue_mark_by_maxima(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                          const float* maxima);

}  // namespace spintag::kernels::cuda
