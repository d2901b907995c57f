// kernels/padded_rows.h - rows of floats with margins of minus infinity.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace spintag::kernels {

inline constexpr float kNothing =
    -std::numeric_limits<float>::infinity();  ///< takes no part in a maximum

/// `count` rows of `width` cells. Before and after each row lie at least kGuard cells that nobody
/// writes and that hold kNothing. Rows start on a cache line.
class PaddedRows {
 public:
  static constexpr std::size_t kGuard = 16;

  PaddedRows(std::size_t count, std::size_t width)
      : stride_((kGuard + width + kGuard + kLine - 1) / kLine * kLine),
        size_(count * stride_),
        cells_(static_cast<float*>(::operator new[](size_ * sizeof(float), kAlignment))) {
    clear();
  }

  float* row(std::size_t index) { return cells_.get() + index * stride_ + kGuard; }
  void clear() { std::fill_n(cells_.get(), size_, kNothing); }

 private:
  static constexpr std::size_t kLine = 16;  ///< floats in a cache line
  static constexpr std::align_val_t kAlignment{kLine * sizeof(float)};
  struct Free {
    void operator()(float* cells) const { ::operator delete[](cells, kAlignment); }
  };

  std::size_t stride_;
  std::size_t size_;
  std::unique_ptr<float[], Free> cells_;
};

}  // namespace spintag::kernels
