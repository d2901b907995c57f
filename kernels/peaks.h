// kernels/peaks.h - local maxima of a spectrogram.
// Source: A. Wang, "An Industrial-Strength Audio Search Algorithm", ISMIR 2003, "Robust
// Constellations".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device.h"
#include "kernels/footprint.h"
#include "kernels/padded_rows.h"
#include "kernels/sliding_max.h"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels {

struct PeakParams {
  Footprint footprint = Footprint::diamond(10);
  float floor_db = 10;  ///< a peak is above it, not equal to it
};

struct Peak {
  std::uint32_t frame = 0;
  std::uint32_t bin = 0;
  float level_db = 0;

  friend bool operator==(const Peak&, const Peak&) = default;
};

/// Finds every cell that equals the maximum over its footprint and is above the floor. Cells that
/// the footprint masks or that lie outside the array take no part; every cell of a plateau is a
/// peak. NaN takes no part and is no peak.
/// @param spectrogram  [frames, bins] row-major, dB power; may be empty
/// @return peaks in (frame, bin) order, the same from every device
/// @throws DeviceError if the device fails. One caller per Device at a time.
std::vector<Peak> find_peaks(Device& device, SpectrogramView spectrogram, const PeakParams& params);

/// The same as a streaming stage, on the CPU. Memory: the footprint's look-ahead and what
/// SlidingMax needs. Single-threaded.
class PeakFinder {
 public:
  PeakFinder(const PeakParams& params, std::size_t bins);

  /// @param frame  the next frame, `bins` cells
  /// @param peaks  the peaks that are now final, appended; frames count from the first push
  void push(std::span<const float> frame, std::vector<Peak>& peaks);

  /// The peaks of the last footprint.look_ahead() frames. After it only reset() may follow.
  void finish(std::vector<Peak>& peaks);

  void reset();

 private:
  void collect(std::span<const float> maxima, std::vector<Peak>& peaks);

  std::size_t bins_;
  float floor_db_;
  SlidingMax sliding_max_;
  std::size_t ring_rows_;
  PaddedRows ring_;          ///< frames whose maxima are not known yet
  std::uint32_t come_ = 0;   ///< frames pushed
  std::uint32_t known_ = 0;  ///< frames whose peaks were given out
};

}  // namespace spintag::kernels
