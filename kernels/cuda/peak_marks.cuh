// kernels/cuda/peak_marks.cuh - which cells of a spectrogram are peaks, as bits.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/context.cuh"

namespace spintag::kernels::cuda {

/// What the kernels that mark peaks are given.
struct PeakMarking {
  const float* cells;  ///< [frames, bins]
  int frames;
  int bins;
  float floor_db;
  std::uint32_t* marks;  ///< [frames, row_words]: bit bin % 32 of word bin / 32
  int row_words;
  std::uint32_t* counts;  ///< [groups of group_rows rows, strips of strip_words words]: peaks there
  int group_rows;         ///< a multiple of kRegionRows
  int strip_words;
  int strips;
};

inline constexpr int kRegionRows = 32;  ///< rows that a block marks together

/// Words of a strip, for rows of so many.
int strip_words(int row_words);

/// Which cells a box or a diamond holds: |frames away| <= frames, |bins away| <= bins, both
/// together <= sum, which is at least `frames` and `bins`.
struct Reach {
  int frames;
  int bins;
  int sum;
};

/// Writes all marks and counts, for a reach that marks_by_tiles().
void queue_mark_by_tiles(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                         const Reach& reach);

/// Whether a reach is neither so small nor so large that the sliding maximum is faster.
bool marks_by_tiles(const PeakMarking& marking, const Reach& reach);

/// The same from the sliding maximum.
void queue_mark_by_maxima(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                          const float* maxima);

}  // namespace spintag::kernels::cuda
