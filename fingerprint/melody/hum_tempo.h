// fingerprint/melody/hum_tempo.h - a hum at another tempo, as linear scaling compares it.
#pragma once

#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// @param hum    bridged
/// @param tempo  of the hum over the melody's, above 0
/// @return for every sample of a melody's coarse contour the median of the frames that fall on it,
/// as coarse_pitch(); at most kernels::kLongestScaledQuery
std::vector<float> at_tempo(const Contour& hum, double tempo);

}  // namespace spintag::fingerprint
