// kernels/cuda/stft.cuh - power spectra and levels of many signals that lie in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cuda/context.cuh"
#include "kernels/stft.h"

namespace spintag::kernels::cuda {

/// Where a signal lies in an array of samples.
struct SignalPlace {
  std::size_t begin = 0;  ///< its first sample; even places are read twice as fast
  std::size_t samples = 0;
};

/// What the transform reads of a signal.
struct SignalFrames {
  std::size_t begin = 0;           ///< its first sample
  std::uint32_t frames = 0;        ///< whole frames
  std::uint32_t first_row = 0;     ///< row of its first frame in the output
  std::uint32_t blocks_until = 0;  ///< blocks of the grid for it and all signals before it
};

/// One StftParams made ready for a device: window and twiddle factors. Its source is the radix-32
/// transform of half as many complex numbers, and what Stft does to it.
class StftPlan {
 public:
  /// @throws std::invalid_argument for what check_stft() refuses, and for frames that are not a
  /// power of two from 256 to 8192
  StftPlan(const std::shared_ptr<Context>& context, const StftParams& params);

  const StftParams& params() const { return params_; }

  /// Signals whose frames are taken in one launch.
  struct Layout {
    Array<SignalFrames> signals;
    std::vector<std::uint32_t> first_row;  ///< [signals + 1]
    std::uint32_t blocks = 0;
    std::uint32_t rows() const { return first_row.back(); }
  };
  /// @throws DeviceError if there are 2^31 frames or more
  Layout lay_out(std::span<const SignalPlace> places) const;

  /// Queues the powers of all frames.
  /// @param rows    receives [layout.rows(), row_stride], of which the first params().bins of a row
  ///                are written
  /// @param offset  with it, decibels: power_to_db() of those powers and this offset
  void run(const float* samples, const Layout& layout, float* rows, std::size_t row_stride,
           std::optional<float> offset) const;

 private:
  std::shared_ptr<Context> context_;
  StftParams params_;
  float factor_;          ///< a quarter of what |X|^2 is multiplied by
  float edge_factor_;     ///< the same at 0 and at Nyquist
  Array<float2> window_;  ///< pairs of samples, in the order the threads take them
  Array<float2> twiddle_;
  Array<float2> untangle_;
};

}  // namespace spintag::kernels::cuda
