// fingerprint/melody/salience.h - which pitches stand out in a spectrum.
// Source: J. Salamon, E. Gomez, "Melody Extraction from Polyphonic Music Signals Using Pitch
// Contour Characteristics", IEEE TASLP 20 (2012), section III-B.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spintag::fingerprint {

struct SalienceParams {
  double bin_hz = 0;          ///< of the spectrum
  std::size_t first_bin = 0;  ///< that the spectrum begins with
  float lowest = 0;           ///< pitches, MIDI semitones
  float highest = 0;
  int harmonics = 0;
  float harmonic_weight = 0;  ///< of a harmonic over the one below it
  float compression = 0;      ///< exponent of a peak's amplitude
  float peak_range_db = 0;    ///< weaker than the strongest, a peak does not count
  float low_cut_hz = 0;       ///< amplitude falls with 6 dB an octave below
};

/// A pitch and how much of the spectrum it explains.
struct SalientPitch {
  float pitch = 0;  ///< MIDI semitones
  float salience = 0;
};

/// The most salient pitches of one frame, in no order.
struct SalientPitches {
  static constexpr std::size_t kMost = 7;
  std::array<SalientPitch, kMost> pitches;
  std::uint32_t count = 0;
  float greatest = 0;  ///< salience
  float crest = 0;     ///< power of the strongest bin over the mean: some 7 in noise
};

/// Harmonic summation, frame after frame. Single-threaded: it keeps its tables.
class Salience {
 public:
  explicit Salience(const SalienceParams& params);

  /// @param power  of the bins from first_bin on; a sine is several bins wide (Hann window)
  SalientPitches pitches(std::span<const float> power);

 private:
  static constexpr int kSteps = 5;      ///< a semitone
  static constexpr int kHalfWidth = 5;  ///< steps around a harmonic: one semitone, as in the paper
  static constexpr int kFractions = 8;  ///< of a step

  struct Peak {
    float step;      ///< where its frequency lies, in steps from `lowest`
    float strength;  ///< compressed amplitude
  };

  void tabulate(std::size_t bins);
  /// @return crest
  float find_peaks(std::span<const float> power);
  void add_harmonics();
  SalientPitches find_maxima() const;

  SalienceParams params_;
  std::size_t steps_ = 0;
  std::vector<float> bin_weights_;       ///< of power
  std::vector<float> harmonic_offsets_;  ///< steps that a harmonic lies above its fundamental
  std::vector<float> harmonic_weights_;
  std::array<std::array<float, 2 * kHalfWidth + 2>, kFractions + 1> bells_{};
  std::vector<Peak> peaks_;
  std::vector<float> bin_steps_;  ///< where each bin's middle lies
  std::vector<float> weighted_;
  std::vector<float> levels_;    ///< of weighted_, dB
  std::vector<float> salience_;  ///< by step, with a margin on both sides
};

}  // namespace spintag::fingerprint
