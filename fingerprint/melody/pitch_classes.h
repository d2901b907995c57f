// fingerprint/melody/pitch_classes.h - a contour as pitch classes: what is left of a melody when
// octaves do not count.
// The octave is what melody extraction from a mix gets wrong most: J. Salamon, E. Gomez, "Melody
// Extraction from Polyphonic Music Signals Using Pitch Contour Characteristics", IEEE TASLP 20
// (2012), section IV, chroma beside pitch accuracy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// Pitch classes of contours are taken of so many frames at a time, 128 ms.
inline constexpr std::size_t kClassFrames = 4;

/// 0 to 11, C = 0; or kNoClass where nothing sounds.
using PitchClass = std::uint8_t;
inline constexpr PitchClass kNoClass = 255;

/// How far the contour lies from whole semitones, -0.5 to 0.5: the circular mean.
float tuning_of(const Contour& contour);

/// The class that most frames of each step have, the lower one of two; none if less than half of
/// them sound.
/// @param contour  0 = unvoiced
/// @param tuning   is taken away first
/// @param frames   of a step, at least 1, not always whole; a rest that is no step is left out
std::vector<PitchClass> pitch_classes(const Contour& contour, float tuning, double frames);

/// Of a melody as it is compared: steps of kClassFrames, rests bridged.
std::vector<PitchClass> pitch_classes(const Melody& melody);

}  // namespace spintag::fingerprint
