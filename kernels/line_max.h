// kernels/line_max.h - running maximum along vertical and diagonal lines, a row at a time.
// Source: M. van Herk, "A fast algorithm for local minimum and maximum filters on rectangular and
// octagonal kernels", Pattern Recognition Letters 13 (1992); J. Gil, M. Werman, "Computing 2-D min,
// median, and max filters", IEEE PAMI 15 (1993).
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/padded_rows.h"

namespace spintag::kernels {

/// out[t][b] = max over i in [0, length) of in[t + i][b + slope * i], three comparisons a cell
/// whatever the length. Rows are `width` cells; where a line would leave them the result is not
/// defined, so callers pad with kNothing.
class LineMax {
 public:
  /// @param length  at least 1
  /// @param slope   bins a row: -1, 0 or 1
  LineMax(std::size_t length, int slope, std::size_t width);

  /// @param row  the next row of `width` cells, none of them NaN
  /// @return the row that lies length - 1 rows back, good until the next call; nullptr while there
  /// is none
  const float* push(const float* row);

  void reset();

 private:
  void extend(const float* row);
  void close_block();

  std::size_t length_;
  std::ptrdiff_t slope_;
  std::size_t width_;
  std::size_t position_ = 0;  ///< rows of this block that have come
  bool primed_ = false;       ///< a block is complete
  PaddedRows slots_;  ///< rows of this block, then what is left of the last block's backward maxima
  PaddedRows
      forward_;  ///< maximum along the lines since the block's first row: now, before, and kNothing
  std::size_t now_ = 0;  ///< which of forward_'s first two rows is the newest
  PaddedRows out_;
};

}  // namespace spintag::kernels
