// fingerprint/melody/hum_tempo.h - a hum made ready: smoothed, and at another tempo.
#pragma once

#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// Median of three: one frame an octave off is no note, and would make its note a broken one.
void smooth(Contour& contour);

/// @param hum    bridged
/// @param tempo  of the hum over the melody's, above 0
/// @return for every sample of a melody's coarse contour the median of the frames that fall on it,
/// as coarse_pitch(); at most kernels::kLongestScaledQuery
std::vector<float> at_tempo(const Contour& hum, double tempo);

}  // namespace spintag::fingerprint
