// kernels/sliding_max.h - the maximum of a spectrogram over a footprint around every cell.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "kernels/device.h"
#include "kernels/footprint.h"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels {

/// Streaming sliding maximum: the maximum over the cells of the footprint, laid with its anchor on
/// the cell. Cells that the footprint masks or that lie outside the spectrogram take no part;
/// neither does NaN. Where nothing takes part the maximum is minus infinity. Of cells of equal
/// value (0 and -0 too) any may be the one.
///
/// Cost per cell: box and diamond, constant in frames; a box grows with the logarithm (base 4) of
/// its width in bins, a diamond not at all; a mask costs two comparisons for each run of bins in
/// each of its rows. Memory: about two footprints of full rows. Single-threaded.
class SlidingMax {
 public:
  /// @param bins  cells a frame
  SlidingMax(const Footprint& footprint, std::size_t bins);
  ~SlidingMax();
  SlidingMax(SlidingMax&&) noexcept;
  SlidingMax& operator=(SlidingMax&&) noexcept;

  /// Frames that must follow before a frame's maxima are known: footprint.look_ahead().
  std::size_t look_ahead() const;

  /// @param frame      the next frame, `bins` cells
  /// @param on_maxima  void(std::span<const float>): gets the maxima of the frame look_ahead()
  /// frames ago, if there is one
  template <class OnMaxima>
  void push(std::span<const float> frame, OnMaxima&& on_maxima) {
    if (const float* maxima = step(frame.data())) on_maxima(std::span<const float>(maxima, bins_));
  }

  /// The maxima of the last look_ahead() frames. After it only reset() may follow.
  template <class OnMaxima>
  void finish(OnMaxima&& on_maxima) {
    while (const float* maxima = drain()) on_maxima(std::span<const float>(maxima, bins_));
  }

  void reset();

 private:
  const float* step(const float* frame);
  const float* drain();

  struct State;
  std::size_t bins_;
  std::unique_ptr<State> state_;
};

/// The same over a whole spectrogram.
/// @param maxima  [frames, bins], receives the result; not the spectrogram's own memory
/// @throws std::invalid_argument if `maxima` is too small, DeviceError if the device fails. One
/// caller per Device.
void sliding_max(Device& device, SpectrogramView spectrogram, const Footprint& footprint,
                 std::span<float> maxima);

namespace cuda {

/// sliding_max() on a CUDA device; `maxima` is as large as the spectrogram.
void sliding_max(Device& device, SpectrogramView spectrogram, const Footprint& footprint,
                 std::span<float> maxima);

}  // namespace cuda

}  // namespace spintag::kernels
