// kernels/footprint.cpp - which neighbours of a cell a sliding maximum looks at.
#include "kernels/footprint.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace spintag::kernels {
namespace {

std::size_t distance(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

}  // namespace

Footprint::Footprint(Shape shape, std::size_t frames, std::size_t bins)
    : shape_(shape), frames_(frames), bins_(bins) {}

Footprint Footprint::box(std::size_t frame_radius, std::size_t bin_radius) {
  return {Shape::kBox, 2 * frame_radius + 1, 2 * bin_radius + 1};
}

Footprint Footprint::diamond(std::size_t radius) {
  return {Shape::kDiamond, 2 * radius + 1, 2 * radius + 1};
}

Footprint Footprint::mask(std::vector<std::uint8_t> cells, std::size_t frames, std::size_t bins) {
  if (cells.empty() || bins == 0 || cells.size() % bins != 0 || cells.size() / bins != frames) {
    throw std::invalid_argument("a footprint of " + std::to_string(frames) + " x " +
                                std::to_string(bins) + " does not have " +
                                std::to_string(cells.size()) + " cells");
  }
  Footprint footprint(Shape::kMask, frames, bins);
  footprint.cells_ = std::move(cells);
  return footprint;
}

bool Footprint::contains(std::size_t frame, std::size_t bin) const {
  switch (shape_) {
    case Shape::kBox:
      return true;
    case Shape::kDiamond:
      return distance(frame, anchor_frame()) + distance(bin, anchor_bin()) <= anchor_frame();
    case Shape::kMask:
      return cells_[frame * bins_ + bin] != 0;
  }
  return false;
}

}  // namespace spintag::kernels
