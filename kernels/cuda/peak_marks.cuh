// kernels/cuda/peak_marks.cuh - which cells of a spectrogram are peaks, as bits.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/context.cuh"
#include "kernels/host_device.h"

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
  /// How many bins each way, so many frames away.
  SPINTAG_HOST_DEVICE int bins_at(int frames_away) const {
    const int left = sum - (frames_away < 0 ? -frames_away : frames_away);
    return left < bins ? left : bins;
  }
  friend bool operator==(const Reach&, const Reach&) = default;

  int frames;
  int bins;
  int sum;
};

/// Where the cells of a footprint lie in an array, in device memory: bytes from the lowest corner
/// of the box around it, without a sign, which makes addresses cheap. Near rows first; filled up
/// with the middle to whole loads of a warp.
struct FootprintCells {
  const std::uint32_t* offsets;
  int size;
};

/// The same, kept for the next call.
struct FootprintScratch {
  Array<std::uint32_t> offsets;
  Reach reach{};
  int bins = 0;
};

/// Writes all marks and counts, for a reach that marks_by_tiles().
void queue_mark_by_tiles(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                         const Reach& reach, FootprintScratch& scratch);

/// Whether a reach is neither so small nor so large that the sliding maximum is faster.
bool marks_by_tiles(const PeakMarking& marking, const Reach& reach);

/// The same from the sliding maximum.
void queue_mark_by_maxima(const std::shared_ptr<Context>& context, const PeakMarking& marking,
                          const float* maxima);

}  // namespace spintag::kernels::cuda
