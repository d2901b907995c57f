// fingerprint/account.h - how an alignment accounts for what is heard, beyond chance: music made of
// the same samples agrees with a track too, but lacks peaks that nothing hides, and adds its own.
#pragma once

#include <span>

#include "fingerprint/query_view.h"
#include "fingerprint/verification.h"

namespace spintag::fingerprint {

/// What confidence is made of besides the score. A song under speech, noise or another song misses
/// peaks where these are strong; another song misses them anywhere.
struct Account {
  /// Log-likelihood ratio, in decades over the square root of the track's peaks in the window, of
  /// two stories about which of them are missing: those that are masked, or any.
  double masking = 0;
  double explained_share = 0;  ///< of the query's own strongest peaks, by the track
  double foreign_per_s = 0;    ///< strong peaks of the query that the track does not explain
  double foreign_db = 0;       ///< mean salience of the query's strongest that it does not explain
};

/// Takes some 50 us for 10 s: for the few alignments that may be told.
/// @param reference  reference_points() for a fit of pitch `reference_pitch`
Account account_for(const QueryView& query, std::span<const ReferencePoint> reference,
                    double reference_pitch, const Fit& fit);

}  // namespace spintag::fingerprint
