// fingerprint/confidence.h - from what verification found to the probability that the tag is right.
#pragma once

#include <cstddef>

#include "fingerprint/account.h"
#include "fingerprint/matcher.h"
#include "fingerprint/verification.h"

namespace spintag::fingerprint {

/// @param score     of the verdict, decades
/// @param window_s  length of query that it was gathered over, seconds
/// @param tracks    in the catalogue: the more there are, the better the best wrong one is
/// @return in [0, 1); confidence.cpp says what it was fitted on
double confidence_of(double score, const Account& account, double window_s,
                     std::size_t tracks) noexcept;

/// Whether an alignment of this score may be more than chance, whatever else it accounts for.
bool worth_judging(double score, std::size_t tracks) noexcept;

/// A verdict on the window [start_s, end_s) as callers of the matcher see it.
Alignment to_alignment(TrackId track_id, const Verdict& verdict, const Account& account,
                       double start_s, double end_s, std::size_t tracks);

}  // namespace spintag::fingerprint
