// kernels/footprint.h - which neighbours of a cell a sliding maximum looks at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spintag::kernels {

/// A set of cells around a cell, the anchor, which may or may not belong to it.
class Footprint {
 public:
  enum class Shape { kBox, kDiamond, kMask };

  /// |frames away| <= frame_radius and |bins away| <= bin_radius.
  static Footprint box(std::size_t frame_radius, std::size_t bin_radius);

  /// |frames away| + |bins away| <= radius: SciPy's iterate_structure(generate_binary_structure(2,
  /// 1), radius), and for radius 0 the anchor alone.
  static Footprint diamond(std::size_t radius);

  /// Any cells. The anchor is (frames / 2, bins / 2), as in SciPy.
  /// @param cells  [frames, bins] row-major; not 0 = belongs to it
  /// @throws std::invalid_argument if `cells` is empty or not frames * bins long
  static Footprint mask(std::vector<std::uint8_t> cells, std::size_t frames, std::size_t bins);

  Shape shape() const { return shape_; }
  std::size_t frames() const { return frames_; }
  std::size_t bins() const { return bins_; }
  std::size_t anchor_frame() const { return frames_ / 2; }  ///< frames before the anchor
  std::size_t anchor_bin() const { return bins_ / 2; }      ///< bins below the anchor
  std::size_t look_ahead() const { return frames_ - 1 - anchor_frame(); }  ///< frames after it

  /// Whether the cell (frame, bin) of [0, frames()) x [0, bins()) belongs to it.
  bool contains(std::size_t frame, std::size_t bin) const;

 private:
  Footprint(Shape shape, std::size_t frames, std::size_t bins);

  Shape shape_;
  std::size_t frames_;
  std::size_t bins_;
  std::vector<std::uint8_t> cells_;  ///< of kMask only
};

}  // namespace spintag::kernels
