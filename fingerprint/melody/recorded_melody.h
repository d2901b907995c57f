// fingerprint/melody/recorded_melody.h - the melody of a recording, as the catalogue keeps it.
#pragma once

#include "fingerprint/melody/melody.h"
#include "fingerprint/melody/predominant_pitch.h"

namespace spintag::fingerprint {

/// The notes of a recording's predominant pitch. Times are those of the recording.
/// @param pitch_track  0 = nothing leads
/// @return without notes if none lasts
Melody recorded_melody(const Contour& pitch_track);

}  // namespace spintag::fingerprint
