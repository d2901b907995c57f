// fingerprint/account.h - how an alignment accounts for what is heard, beyond chance: music made of
// the same samples agrees with a track too, but lacks peaks that nothing hides, and adds its own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fingerprint/query_view.h"
#include "fingerprint/verification.h"

namespace spintag::fingerprint {

/// What confidence is made of besides the score. A song under speech, noise or another song misses
/// peaks where these are strong; another song misses them anywhere.
struct Account {
  /// Log-likelihood ratio, in decades over the square root of the track's peaks in the window, of
  /// two stories about which of them are missing: those that are masked, or any. Those that the
  /// query cannot have do not count: at its very ends, and above its band.
  double masking = 0;
  double missing_share = 0;  ///< of the same peaks, those that are not found
  /// Over the same peaks, the square root of the mean of what is missing there of the level that
  /// the track leads one to expect, beyond 5 dB. Sound that is added covers a peak and takes no
  /// energy away, so whatever was added this is small for the right track. Not there if the query's
  /// levels are not known, or not where a tenth of the peaks should be.
  std::optional<double> deficit = std::nullopt;
  double explained_share = 0;  ///< of the query's own strongest peaks, by the track
  double foreign_per_s = 0;    ///< strong peaks of the query that the track does not explain
  double foreign_db = 0;       ///< mean salience of the query's strongest that it does not explain
  /// Groups of the track's peaks that are found, each peak within 30 ms of the one before it: notes
  /// that sound together, with their overtones, agree by one chance.
  int moments = 0;
  /// Tempo and pitch are both changed, by different amounts: rarer on air than any other change,
  /// and with a thousand ways to be met by chance. A caller that expects the speed takes it back.
  bool odd_warp = false;
};

/// A peak of a track where an alignment puts it in the window, and what tells how likely it is
/// heard.
struct ExpectedPeak {
  double time_s = 0;       ///< into the window
  double freq_hz = 0;      ///< in the query
  double u = 0;            ///< on the frequency scale, at the pitch that the reference is made for
  double salience_db = 0;  ///< in the track
  bool found = false;      ///< the query has it
  double loss_db = 0;      ///< of one that is found: salience in the track less in the query
  double masker_db = 0;    ///< salience of the query's strongest that may hide it; 0 = none
  double loss_around_db = 0;  ///< median loss of those found around it, itself left out
  /// How far beyond 5 dB the query's level there is below salience_db less the loss around it or at
  /// its time, whichever is more; 0 of one that is found. Not there if the level is not known.
  std::optional<double> deficit_db = std::nullopt;
};

/// The track's peaks in the window, in time order: what account_for() weighs, which leaves out what
/// the query cannot have, and what its chance to find a peak was fitted on.
std::vector<ExpectedPeak> expected_peaks(const QueryView& query,
                                         std::span<const ReferencePoint> reference,
                                         double reference_pitch, const Fit& fit);

/// Takes some 50 us for 10 s: for the few alignments that may be told.
/// @param reference  reference_points() for a fit of pitch `reference_pitch`
Account account_for(const QueryView& query, std::span<const ReferencePoint> reference,
                    double reference_pitch, const Fit& fit);

}  // namespace spintag::fingerprint
