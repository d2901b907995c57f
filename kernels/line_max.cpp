// kernels/line_max.cpp - running maximum along vertical and diagonal lines, a row at a time.
#include "kernels/line_max.h"

#include <algorithm>
#include <cassert>

#include "kernels/multiversion.h"

namespace spintag::kernels {
namespace {

SPINTAG_CLONES void extend_and_join(const float* __restrict before, const float* __restrict row,
                                    const float* __restrict backward, float* __restrict forward,
                                    float* __restrict slot, float* __restrict out,
                                    std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float value = before[i] > row[i] ? before[i] : row[i];
    slot[i] = row[i];
    forward[i] = value;
    out[i] = backward[i] > value ? backward[i] : value;
  }
}

SPINTAG_CLONES void extend_only(const float* __restrict before, const float* __restrict row,
                                float* __restrict forward, float* __restrict slot,
                                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    slot[i] = row[i];
    forward[i] = before[i] > row[i] ? before[i] : row[i];
  }
}

SPINTAG_CLONES void take_max(float* __restrict into, const float* __restrict other,
                             std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) into[i] = into[i] > other[i] ? into[i] : other[i];
}

}  // namespace

// Rows are cut into blocks of `length`. A line that starts in row r of a block covers the rest of
// that block (its backward maximum, made when the block is complete) and the first r rows of the
// next (the forward maximum, extended by every row). Row r of the new block takes the slot of
// backward row r, which the previous push was the last to need.
LineMax::LineMax(std::size_t length, int slope, std::size_t width)
    : length_(length),
      slope_(slope),
      width_(width),
      slots_(length, width),
      forward_(3, width),
      out_(1, width) {
  assert(length >= 1 && slope >= -1 && slope <= 1);
}

const float* LineMax::push(const float* row) {
  if (position_ + 1 < length_) {
    extend(row);
    ++position_;
    return primed_ ? out_.row(0) : nullptr;
  }
  std::copy_n(row, width_, slots_.row(position_));
  close_block();
  return slots_.row(0);
}

void LineMax::reset() {
  position_ = 0;
  primed_ = false;
  slots_.clear();
  forward_.clear();
  out_.clear();
}

void LineMax::extend(const float* row) {
  const float* before = position_ == 0 ? forward_.row(2) : forward_.row(now_) - slope_;
  now_ ^= 1U;
  float* forward = forward_.row(now_);
  float* slot = slots_.row(position_);
  const float* backward = slots_.row(position_ + 1);
  float* out = out_.row(0);
  // The line that ends in this row's cell b began `reach` bins away; only cells that begin inside
  // have a result.
  const std::size_t reach = std::min(slope_ == 0 ? 0 : length_ - 1, width_);
  const std::size_t joined = width_ - reach;
  const std::size_t first = slope_ > 0 ? reach : 0;  // of the cells whose line begins inside
  const std::size_t rest = slope_ > 0 ? 0 : joined;  // of the others
  const std::size_t begin = slope_ < 0 ? reach : 0;  // where the first of those lines begins
  extend_only(before + rest, row + rest, forward + rest, slot + rest, reach);
  extend_and_join(before + first, row + first, backward + begin, forward + first, slot + first,
                  out + begin, joined);
}

void LineMax::close_block() {
  for (std::size_t r = length_ - 1; r-- > 0;) {
    take_max(slots_.row(r), slots_.row(r + 1) + slope_, width_);
  }
  position_ = 0;
  primed_ = true;
}

}  // namespace spintag::kernels
