// fingerprint/melody/melody_confidence.h - how sure it is that a mix plays a melody.
#pragma once

#include "fingerprint/melody/tune_matcher.h"

namespace spintag::fingerprint {

/// Probability that `answer.best` is the tune that is played, by logistic regression. How it was
/// fitted, and on what: tests/eval/README.md, "Measuring melodies of a mix".
/// @return above 0 and at most kSurestMelody
double melody_confidence(const TuneAnswer& answer);

/// The fit has seen some hundred wrong answers, and says nothing about rarer ones.
inline constexpr double kSurestMelody = 0.995;

}  // namespace spintag::fingerprint
