// fingerprint/dejavu.h - the `dejavu` profile: published parameters from samples to landmarks.
// Source: W. Drevo, "Audio Fingerprinting with Python and Numpy", 2013, and its program Dejavu
// (fingerprint.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/device.h"
#include "kernels/peaks.h"
#include "kernels/stft.h"

namespace spintag::fingerprint {

/// Every number that decides a `dejavu` hash; a change of any is a new `version`.
struct DejavuProfile {
  static constexpr std::string_view name = "dejavu";
  static constexpr std::uint16_t version = 1;

  static constexpr int rate_hz = 44100;
  static constexpr std::size_t frame_samples = 4096;  ///< symmetric Hann window
  static constexpr std::size_t hop_samples = 2048;
  static constexpr std::size_t bins = frame_samples / 2 + 1;
  static constexpr std::size_t max_dt_frames = 200;

  std::size_t radius = 10;  ///< of the diamond of frames and bins that a peak is the maximum of
  float floor_db = 10;      ///< a peak is above it; at least 0
  std::size_t fan_out =
      15;  ///< an anchor pairs with the fan_out - 1 peaks that follow it, as in the program
};

/// Streaming stage from samples to a spectrogram in decibels. Frame i covers samples [2048 i, 2048
/// i + 4096); a recording shorter than a frame is one frame, filled up with zeros; of a longer one
/// the rest that fills no frame is not looked at.
///
/// A cell is 10 log10 of the one-sided power spectral density of 16-bit samples, in counts^2 per
/// hertz, as matplotlib.mlab.specgram has it: 2 |X|^2 / (rate sum w^2), half of that at 0 Hz and
/// Nyquist, with full scale = 32768. A power of zero is -379.3 dB here, where the program puts 0
/// dB: both are below any floor from 0 dB up, so the peaks are the same. (The program also takes
/// every channel by itself, and this stage one mono signal.)
class DejavuSpectrogram {
 public:
  DejavuSpectrogram();

  /// @param samples   mono, 44.1 kHz, full scale = 1; any number of them; how they are cut changes
  /// nothing
  /// @param on_frame  void(std::span<const float>): DejavuProfile::bins decibels
  template <class OnFrame>
  void push(std::span<const float> samples, OnFrame&& on_frame) {
    while (!samples.empty()) {
      samples = samples.subspan(fill(samples));
      if (filled_ == DejavuProfile::frame_samples) on_frame(next_frame());
    }
  }

  /// The tail. After it only reset() may follow.
  template <class OnFrame>
  void finish(OnFrame&& on_frame) {
    if (fill_up_short_recording()) on_frame(next_frame());
  }

  void reset();

 private:
  std::size_t fill(std::span<const float> samples);
  std::span<const float> next_frame();
  bool fill_up_short_recording();

  kernels::Stft stft_;
  std::vector<float> samples_;  ///< the frame that is being filled
  std::size_t filled_ = 0;
  bool any_frame_ = false;
  std::vector<float> decibels_;
};

/// Streaming stage from samples to peaks in (frame, bin) order; a frame's peaks come `radius`
/// frames later, at least one. How the input is cut changes nothing. Single-threaded; memory is
/// constant.
class DejavuPeakFinder {
 public:
  /// @throws std::invalid_argument if floor_db is below 0
  explicit DejavuPeakFinder(const DejavuProfile& profile = {});

  /// @param samples  mono, 44.1 kHz, full scale = 1
  /// @param peaks    receives the peaks that are now final, appended
  void push(std::span<const float> samples, std::vector<kernels::Peak>& peaks);

  /// The tail. After it only reset() may follow.
  void finish(std::vector<kernels::Peak>& peaks);

  void reset();

 private:
  DejavuSpectrogram spectrogram_;
  kernels::PeakFinder finder_;
};

/// A pair of peaks.
struct DejavuLandmark {
  std::uint32_t frame = 0;     ///< the anchor's
  std::uint16_t bin = 0;       ///< the anchor's, f1
  std::uint16_t next_bin = 0;  ///< the target's, f2
  std::uint16_t dt_frames = 0;

  /// f1, f2 and dt in 12, 12 and 8 bits. The program takes SHA-1 of the text "f1|f2|dt": the same
  /// three numbers.
  std::uint32_t hash() const {
    return std::uint32_t{bin} << 20U | std::uint32_t{next_bin} << 8U | dt_frames;
  }

  friend bool operator==(const DejavuLandmark&, const DejavuLandmark&) = default;
};

/// Pairs each peak with the fan_out - 1 next in (frame, bin) order, as far as they lie within 0 to
/// 200 frames.
std::vector<DejavuLandmark> dejavu_landmarks(std::span<const kernels::Peak> peaks,
                                             const DejavuProfile& profile = {});

/// dejavu_landmarks() of each list, the same from every device.
/// @throws kernels::DeviceError if the device fails. One caller per Device at a time.
std::vector<std::vector<DejavuLandmark>> dejavu_landmarks(
    kernels::Device& device, std::span<const std::span<const kernels::Peak>> lists,
    const DejavuProfile& profile = {});

}  // namespace spintag::fingerprint
