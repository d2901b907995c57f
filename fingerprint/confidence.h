// fingerprint/confidence.h - from what verification found to the probability that the tag is right.
#pragma once

#include "fingerprint/verification.h"

namespace spintag::fingerprint {

/// @param window_s  length of query that the verdict was gathered over, seconds
/// @return in [0, 1): monotone in score and in found share; confidence.cpp says what it was fitted
/// on
double confidence_of(const Verdict& verdict, double window_s) noexcept;

}  // namespace spintag::fingerprint
