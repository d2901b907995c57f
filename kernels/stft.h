// kernels/stft.h - short-time power spectra and decibels.
// Source: A. V. Oppenheim, R. W. Schafer, "Discrete-Time Signal Processing", ch. 10 (short-time
// Fourier analysis).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/device.h"

namespace spintag::kernels {

/// Hann window of N samples: w(n) = (1 - cos(2 pi n / D)) / 2, n = 0 .. N - 1.
enum class HannWindow {
  kPeriodic,   ///< D = N: what spectral analysis wants; SciPy's get_window("hann")
  kSymmetric,  ///< D = N - 1: both ends are zero; NumPy's hanning()
};

/// What |X(k)|^2 is multiplied by; w is the window, sums run over the frame.
enum class PowerScale {
  kRaw,            ///< 1
  kFullScaleSine,  ///< (2 / sum w)^2 in every bin: a sine of amplitude 1 on a bin centre has power
                   ///< 1 there
  kDensity,  ///< 2 / sum w^2, half of it at 0 and at Nyquist: one-sided density per (cycle/sample)
};

struct StftParams {
  std::size_t frame_samples = 2048;  ///< even, at least 4; fast when its prime factors are small
  std::size_t hop_samples = 256;     ///< at least 1
  std::size_t first_bin = 0;         ///< the first bin that is given out
  std::size_t bins = 1025;  ///< how many from there; first_bin + bins <= frame_samples / 2 + 1
  HannWindow window = HannWindow::kPeriodic;
  PowerScale scale = PowerScale::kFullScaleSine;
  double gain = 1;  ///< every power is multiplied by it too
};

/// Power spectra of Hann-windowed frames. Plan and scratch are made once; making one is
/// thread-safe, using one is for one thread at a time. The same input gives the same bits on the
/// same machine, whatever the call; between processors the last bits differ, because FFTW takes the
/// widest vector code that each has.
class Stft {
 public:
  /// @throws std::invalid_argument if the parameters break the rules above
  explicit Stft(const StftParams& params);
  ~Stft();
  Stft(Stft&&) noexcept;
  Stft& operator=(Stft&&) noexcept;

  const StftParams& params() const;

  /// Whole frames in so many samples: 0 if there are less than frame_samples.
  std::size_t frame_count(std::size_t samples) const;

  /// @param frame  params().frame_samples samples, any alignment
  /// @param power  receives params().bins powers
  void power_spectrum(const float* frame, float* power);

  /// Frame i covers samples [i * hop, i * hop + frame_samples); what is left over at the end is not
  /// looked at.
  /// @param power  [frame_count(samples.size()), bins] row-major
  /// @return frames written
  /// @throws std::invalid_argument if `power` is too small
  std::size_t frames(std::span<const float> samples, std::span<float> power);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// db = 10 log10(power + offset), within 1e-4 dB, the same bits on every processor. A sum below the
/// smallest normal float (1.2e-38), and NaN, count as that (-379.3 dB), so every result is finite.
/// @param db  as many as `power`; may be the same memory
void power_to_db(std::span<const float> power, float offset, std::span<float> db);

/// Power spectra of many signals at once, on any device. The CPU is Stft::frames(). A CUDA device
/// takes frames of 256 to 8192 samples, a power of two, and comes within 1e-6 of the largest power
/// of the frame: it rounds otherwise.
/// @param signals  any lengths; one that is shorter than a frame has none
/// @return [frames, params.bins] row-major, the frames of all signals one after the other
/// @throws std::invalid_argument if the parameters break the rules above
/// @throws DeviceError if the device fails. One caller per Device at a time.
std::vector<float> power_spectrogram(Device& device, const StftParams& params,
                                     std::span<const std::span<const float>> signals);

/// power_to_db() of those powers: given the same power, every device gives the same bits.
std::vector<float> level_spectrogram(Device& device, const StftParams& params, float offset,
                                     std::span<const std::span<const float>> signals);

namespace cuda {

std::vector<float> power_spectrogram(Device& device, const StftParams& params,
                                     std::span<const std::span<const float>> signals);
std::vector<float> level_spectrogram(Device& device, const StftParams& params, float offset,
                                     std::span<const std::span<const float>> signals);

}  // namespace cuda
}  // namespace spintag::kernels
