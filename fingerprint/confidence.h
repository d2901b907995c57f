// fingerprint/confidence.h - from what verification found to the probability that the tag is right.
#pragma once

#include "fingerprint/matcher.h"
#include "fingerprint/verification.h"

namespace spintag::fingerprint {

/// @param window_s  length of query that the verdict was gathered over, seconds
/// @return in [0, 1): monotone in score and in found share; confidence.cpp says what it was fitted
/// on
double confidence_of(const Verdict& verdict, double window_s) noexcept;

/// A verdict on the window [start_s, end_s) as callers of the matcher see it, with its confidence.
Alignment to_alignment(TrackId track_id, const Verdict& verdict, double start_s, double end_s);

}  // namespace spintag::fingerprint
