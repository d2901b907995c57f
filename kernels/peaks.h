// kernels/peaks.h - local maxima of a spectrogram.
// Source: A. Wang, "An Industrial-Strength Audio Search Algorithm", ISMIR 2003, "Robust
// Constellations".
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/device.h"
#include "kernels/footprint.h"
#include "kernels/host_device.h"
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
  float frame_shift = 0;  ///< where between frames it lies, as sub_cell_shift() says
  float bin_shift = 0;    ///< where between bins

  friend bool operator==(const Peak&, const Peak&) = default;
};

/// Where the parabola through three neighbours has its vertex, in cells from the middle one, at
/// most half a cell away; 0 where it has no maximum (no curvature, or a neighbour that is NaN or
/// infinite). Source: J. O. Smith, X. Serra, "PARSHL", ICMC 1987: p = (a - b) / (2 (a - 2 m + b)).
SPINTAG_HOST_DEVICE inline float sub_cell_shift(float before, float middle, float after) {
  const float curvature = before - 2 * middle + after;
  if (!(curvature < 0 && curvature >= -std::numeric_limits<float>::max())) return 0;
  const float shift = 0.5F * (before - after) / curvature;
  return shift < -0.5F ? -0.5F : shift > 0.5F ? 0.5F : shift;
}

/// The peak that stands at row[bin].
/// @param before, after  the neighbouring frames; nullptr beyond the first and the last, where
/// there is no frame_shift
SPINTAG_HOST_DEVICE inline Peak peak_at(const float* before, const float* row, const float* after,
                                        std::uint32_t frame, std::uint32_t bin, std::size_t bins) {
  const bool between_frames = before != nullptr && after != nullptr;
  const bool between_bins = bin > 0 && bin + 1 < bins;
  // All loads before all use: a device waits once.
  const float level = row[bin];
  const float earlier = between_frames ? before[bin] : level;
  const float later = between_frames ? after[bin] : level;
  const float lower = between_bins ? row[bin - 1] : level;
  const float upper = between_bins ? row[bin + 1] : level;
  return {frame, bin, level, sub_cell_shift(earlier, level, later),
          sub_cell_shift(lower, level, upper)};
}

/// Finds every cell that equals the maximum over its footprint and is above the floor. Cells that
/// the footprint masks or that lie outside the array take no part; every cell of a plateau is a
/// peak. NaN takes no part and is no peak.
/// @param spectrogram  [frames, bins] row-major, dB power; may be empty
/// @return peaks in (frame, bin) order, the same from every device
/// @throws DeviceError if the device fails. One caller per Device at a time.
std::vector<Peak> find_peaks(Device& device, SpectrogramView spectrogram, const PeakParams& params);

namespace cuda {

/// find_peaks() on a CUDA device.
std::vector<Peak> find_peaks(Device& device, SpectrogramView spectrogram, const PeakParams& params);

}  // namespace cuda

/// The same as a streaming stage, on the CPU. Memory: the footprint's look-ahead and what
/// SlidingMax needs. Single-threaded.
class PeakFinder {
 public:
  PeakFinder(const PeakParams& params, std::size_t bins);

  /// @param frame  the next frame, `bins` cells
  /// @param peaks  the peaks that are now final, appended; frames count from the first push. A
  /// frame's peaks are final when footprint.look_ahead() frames have followed, but at least one.
  void push(std::span<const float> frame, std::vector<Peak>& peaks);

  /// The peaks of the last frames. After it only reset() may follow.
  void finish(std::vector<Peak>& peaks);

  void reset();

 private:
  const float* row(std::uint32_t frame) { return ring_.row(frame % ring_rows_); }
  void collect(std::span<const float> maxima, std::vector<Peak>& peaks);
  void give_waiting(const float* after, std::vector<Peak>& peaks);

  std::size_t bins_;
  float floor_db_;
  SlidingMax sliding_max_;
  std::size_t ring_rows_;
  PaddedRows ring_;  ///< frames whose maxima are not known yet, one before them, one after
  std::vector<Peak> waiting_;  ///< of the newest frame: the next decides where they lie
  std::uint32_t come_ = 0;     ///< frames pushed
  std::uint32_t known_ = 0;    ///< frames whose peaks were given out
};

}  // namespace spintag::kernels
