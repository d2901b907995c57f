// fingerprint/confidence.cpp - the fit of the false rate against score, share of peaks found and
// masking.
//
// Two things call unknown music by a wrong name. Chance does it rarely: windows of 5 s reach 15 to
// 20 points, windows of 10 s 17 to 35, and hardly ever find more than a third of a reference's
// peaks. Music that was made from the same samples does it often, with high scores, but a good part
// of the reference is missing where nothing hides it. A noisy or talked-over copy misses as much,
// only there the peaks that are found have lost salience: noise has raised the floor around them.
// So the share that must be found falls with the loss.
#include "fingerprint/confidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spintag::fingerprint {
namespace {

/// The bar grows with the window, because shared samples agree longer the longer one listens.
constexpr double kPointsPerSecond = 3.6;
constexpr double kShortest = 5.0;  ///< seconds; shorter windows keep the bar of this one
constexpr double kLongest =
    10.0;  ///< and longer ones of that one: it must not outgrow what noisy songs can reach
constexpr double kNinesAtBar = 3.0;

constexpr double kShareUnmasked =
    0.40;                              ///< of the reference's peaks, when the floor is where it was
constexpr double kShareMasked = 0.30;  ///< however high the floor has risen
constexpr double kFreeLossDb = 3.0;    ///< processing alone costs this much
constexpr double kSharePerDb = 0.04;
constexpr double kShareRamp =
    0.05;  ///< below the share that is asked, confidence falls to nothing within this

double bar(double window_s) { return kPointsPerSecond * std::clamp(window_s, kShortest, kLongest); }

double share_asked(double masking_db) {
  return std::clamp(kShareUnmasked - kSharePerDb * (masking_db - kFreeLossDb), kShareMasked,
                    kShareUnmasked);
}

}  // namespace

double confidence_of(const Verdict& verdict, double window_s) noexcept {
  const double lacking = share_asked(verdict.masking_db) - verdict.found_share;
  const double score =
      std::max(0.0, verdict.score) * std::clamp(1.0 - lacking / kShareRamp, 0.0, 1.0);
  constexpr double kLargest = 1 - std::numeric_limits<double>::epsilon() / 2;  // nothing is certain
  return std::min(-std::expm1(-std::log(10.0) * kNinesAtBar * score / bar(window_s)), kLargest);
}

Alignment to_alignment(TrackId track_id, const Verdict& verdict, double start_s, double end_s) {
  return {.track_id = track_id,
          .start_s = start_s,
          .end_s = end_s,
          .track_start_s = verdict.fit.offset_s,
          .tempo = verdict.fit.tempo,
          .pitch = verdict.fit.pitch,
          .score = verdict.score,
          .confidence = confidence_of(verdict, end_s - start_s),
          .found_share = verdict.found_share};
}

}  // namespace spintag::fingerprint
