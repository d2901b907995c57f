// fingerprint/confidence.cpp - a logistic fit of right against wrong.
//
// Two things call unknown music by a wrong name. Chance does it rarely, and the score alone tells
// it: windows of 5 s reach 15 to 20 points, windows of 10 s 17 to 35. Music that was made from the
// same samples does it often, with high scores; but it lacks peaks of the track that nothing hides,
// and adds strong ones of its own.
#include "fingerprint/confidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spintag::fingerprint {
namespace {

constexpr double kShortest = 2;  ///< seconds; what the fit has seen
constexpr double kLongest = 15;
constexpr double kFaintest = 8;  ///< dB of foreign peaks; what the fit has seen
constexpr double kLoudest = 27;
/// Points that the best of ten times more wrong tracks gains.
constexpr double kPointsPerDecade = 4;
constexpr double kFittedTracks = 100;

/// Of a fit (tests/eval/fit_confidence.py), for score a second, ln(score), ln(window),
/// ln(moments + 1) and members of Account. Wherever a score is worth judging `rate` outweighs a
/// `score` below zero, so that confidence grows with it.
struct Weights {
  double rate;
  double score;
  double window;
  double masking = 0;
  double explained;
  double foreign;
  double foreign_db;
  double moments;
  double odd_warp;
  double missing = 0;
  double deficit = 0;
  double none;
  /// Log-odds for one of the fit: beyond the last wrong tag that was seen they are steeper than a
  /// fit over all of them, which is what makes a threshold worth its name.
  double steepness;
  double even;
};

/// Of queries whose levels are known.
constexpr Weights kWithLevels{
    .rate = 0.4654,
    .score = 0.8584,
    .window = -0.9248,
    .explained = 7.071,
    .foreign = -0.6111,
    .foreign_db = 0.4156,
    .moments = 0.6684,
    .odd_warp = -3.587,
    .missing = 7.614,
    .deficit = -5.555,
    .none = -9.945,
    .steepness = 7.67,
    .even = 0.6,
};

/// Of queries of which there are peaks alone.
constexpr Weights kPeaksAlone{
    .rate = 0.454,
    .score = -0.26,
    .window = 0.636,
    .masking = 3.029,
    .explained = -1.511,
    .foreign = -0.619,
    .foreign_db = 0.33,
    .moments = 1.078,
    .odd_warp = -3.712,
    .none = -6.948,
    .steepness = 8.13,
    .even = 0.4,
};

/// Music made of the same samples is most alike in the short: what the log-odds lose for each
/// second below five.
constexpr double kFullLength = 5;
constexpr double kShort = 0.5;

constexpr double kFewestPoints = 10;  ///< below is chance

/// The score, less what the size of the catalogue adds to the best wrong one.
double points_of(double score, std::size_t tracks) {
  const double more = std::log10(std::max(1.0, static_cast<double>(tracks) / kFittedTracks));
  return score - kPointsPerDecade * more;
}

}  // namespace

bool worth_judging(double score, std::size_t tracks) noexcept {
  return points_of(score, tracks) >= kFewestPoints;
}

double confidence_of(double score, const Account& account, double window_s,
                     std::size_t tracks) noexcept {
  if (!worth_judging(score, tracks)) return 0;
  const double points = points_of(score, tracks);
  const double length_s = std::clamp(window_s, kShortest, kLongest);
  const Weights& w = account.deficit ? kWithLevels : kPeaksAlone;
  const double fit = w.none + w.rate * points / length_s + w.score * std::log(points) +
                     w.window * std::log(length_s) + w.masking * account.masking +
                     w.explained * account.explained_share + w.foreign * account.foreign_per_s +
                     w.foreign_db * std::clamp(account.foreign_db, kFaintest, kLoudest) +
                     w.moments * std::log1p(account.moments) + (account.odd_warp ? w.odd_warp : 0) +
                     w.missing * account.missing_share + w.deficit * account.deficit.value_or(0) -
                     kShort * std::max(0.0, kFullLength - length_s);
  constexpr double kLargest = 1 - std::numeric_limits<double>::epsilon() / 2;  // nothing is certain
  return std::min(1 / (1 + std::exp(-w.steepness * (fit - w.even))), kLargest);
}

Alignment to_alignment(TrackId track_id, const Verdict& verdict, const Account& account,
                       double start_s, double end_s, std::size_t tracks) {
  return {.track_id = track_id,
          .start_s = start_s,
          .end_s = end_s,
          .track_start_s = verdict.fit.offset_s,
          .tempo = verdict.fit.tempo,
          .pitch = verdict.fit.pitch,
          .score = verdict.score,
          .confidence = confidence_of(verdict.score, account, end_s - start_s, tracks),
          .found_share = verdict.found_share};
}

}  // namespace spintag::fingerprint
