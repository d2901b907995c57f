// fingerprint/melody/pitch_track.h - the pitch of one voice over time: what somebody hums.
// Sources: A. de Cheveigné, H. Kawahara, "YIN, a fundamental frequency estimator for speech and
// music", JASA 111 (2002); M. Mauch, S. Dixon, "pYIN", ICASSP 2014, for keeping several candidates
// a frame and choosing by a path through them.
#pragma once

#include <span>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// Costs are in units of YIN's normalised difference: 0 is a perfect period, 1 is none.
struct PitchParams {
  float min_hz = 60;
  float max_hz = 1400;  ///< a period is six samples then; what is above 1,800 sounds an octave low
  float window_s = 0.032F;     ///< of the difference function, beside the longest period
  float cutoff_hz = 1500;      ///< low-pass before: noise above it only lifts the difference
  float unvoiced_cost = 0.5F;  ///< a frame is voiced if its period explains more than that
  float turn_cost = 0.2F;      ///< of a change between voiced and unvoiced
  float glide_cost = 0.02F;    ///< a semitone of movement between frames,
  float glide_limit = 0.2F;    ///< at most: a new note may be anywhere
  float octave_cost = 0.06F;   ///< an octave of period: of equal ones the shortest is the pitch
  float silence_db = -45;      ///< below the loudest frame nothing is voiced
};

/// @param samples  mono, full scale 1
/// @param rate_hz  8000 to 48000
/// @return the pitch track: 0 where there is no voice. Single-threaded, some 3 ms a second.
/// @throws std::invalid_argument for any other rate
Contour track_pitch(std::span<const float> samples, int rate_hz, const PitchParams& params = {});

}  // namespace spintag::fingerprint
