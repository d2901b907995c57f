// fingerprint/melody/predominant_pitch.h - the pitch of the leading voice of a full mix over time.
// Source: J. Salamon, E. Gomez, "Melody Extraction from Polyphonic Music Signals Using Pitch
// Contour Characteristics", IEEE TASLP 20 (2012), section III-A and B: salience by harmonic
// summation over spectral peaks whose frequency is interpolated. The melody is the best path
// through the salience (Viterbi, as in pitch_track.h) instead of a selection among contours.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// Chosen on renderings of polyphonic MIDI songs (fingerprint/EXPERIMENTS.md, "Humming"). Costs are
/// in units of the loss of all salience: a frame's strongest pitch costs 0, one without any 1.
struct PredominantParams {
  int harmonics = 8;
  float harmonic_weight = 0.8F;  ///< of a harmonic over the one below it: the paper's alpha
  float compression = 0.7F;      ///< salience adds up amplitude to this power: the paper's beta
  float peak_range_db = 45;      ///< weaker than the strongest of its frame, a peak does not count
  float low_cut_hz = 250;        ///< amplitude falls with 6 dB an octave below: basses lead nothing
  float glide_cost = 0.06F;      ///< a semitone of movement between frames,
  float glide_limit = 0.3F;      ///< at most: a new note may be anywhere
  float low_cost = 0.006F;       ///< a semitone below high_pitch: of two voices the higher leads
  float high_pitch = 84;
  float least_crest = 15;          ///< of the spectrum; what has less is noise, hiss or drums
  float unvoiced_salience = 0.3F;  ///< of the recording's usual: what has less is no voice
  float unvoiced_cost = 0.5F;      ///< of a frame that is left unvoiced though something sounds
  float turn_cost = 0.3F;          ///< of a change between voiced and unvoiced
};

/// Streaming: push() any amounts, then finish(). How the input is cut changes nothing.
/// Single-threaded. Memory: some 2 KiB a second.
class PredominantPitch {
 public:
  static constexpr int kRateHz = 11025;
  static constexpr float kLowest = 48;  ///< MIDI semitones
  static constexpr float kHighest = 92;

  explicit PredominantPitch(const PredominantParams& params = {});
  ~PredominantPitch();
  PredominantPitch(PredominantPitch&&) noexcept;
  PredominantPitch& operator=(PredominantPitch&&) noexcept;

  /// @param samples  mono at kRateHz, full scale 1
  void push(std::span<const float> samples);

  /// The pitch track of all that was pushed: 0 where nothing leads. Begins anew.
  Contour finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same of a whole signal.
Contour predominant_pitch(std::span<const float> samples, const PredominantParams& params = {});

}  // namespace spintag::fingerprint
