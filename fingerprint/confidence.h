// fingerprint/confidence.h - from a verification score to the probability that the tag is right.
#pragma once

namespace spintag::fingerprint {

/// @param score     decades of evidence against chance, as verification gives them
/// @param window_s  length of query that the score was gathered over, seconds
/// @return in [0, 1): monotone in score; see confidence.cpp for the negatives that it was fitted on
double confidence_of(double score, double window_s) noexcept;

/// The score that gives this confidence.
double score_for(double confidence, double window_s) noexcept;

}  // namespace spintag::fingerprint
