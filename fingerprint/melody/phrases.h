// fingerprint/melody/phrases.h - where the phrases of a melody start, for sources that do not say.
// Source: E. Cambouropoulos, "The Local Boundary Detection Model (LBDM) and its Application in the
// Study of Expressive Timing", ICMC 2001.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// Weights are the paper's; the rest was chosen on 1,034 dance tunes whose phrases are known (the
/// Nottingham Music Database): 22 % of these starts are right and 23 % of the right ones are found.
/// Phrases of dances follow the bar, and notes alone tell little of it.
struct PhraseParams {
  double pitch_weight = 0.25;
  double onset_weight = 0.5;  ///< of the time from onset to onset
  double rest_weight = 0.25;
  double least_strength = 0.35;  ///< of a boundary; the strongest that can be is 1
  std::size_t least_notes = 8;   ///< of a phrase
};

/// How much of a boundary lies before each note, 0 to 1; 0 before the first.
/// @param notes  by onset, one voice
std::vector<double> boundary_strengths(std::span<const MelodyNote> notes,
                                       const PhraseParams& params = {});

/// The first note, and every one before which the strength has a peak of some height.
/// @return places in `notes`, ascending; empty for no notes
std::vector<std::uint32_t> phrase_starts(std::span<const MelodyNote> notes,
                                         const PhraseParams& params = {});

}  // namespace spintag::fingerprint
