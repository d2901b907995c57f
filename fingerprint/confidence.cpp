// fingerprint/confidence.cpp - the fit of the false rate against the score.
#include "fingerprint/confidence.h"

#include <algorithm>
#include <cmath>

namespace spintag::fingerprint {
namespace {

/// The highest score that unknown audio of this length reached is no probability: music made from
/// the same samples agrees longer the longer one listens. The scale therefore grows with the
/// window: 4 points a second (20 at 5 s, 40 at 10 s) stand for three nines, and every further
/// quarter of that for a little less than one more.
constexpr double kPointsPerSecond = 4.0;
constexpr double kShortest = 5.0;  ///< seconds; shorter windows keep the scale of this one
constexpr double kLongest =
    10.0;  ///< and longer ones of that one: the bar must not outgrow what noisy songs can reach
constexpr double kNinesAtBar = 3.0;

double bar(double window_s) { return kPointsPerSecond * std::clamp(window_s, kShortest, kLongest); }

}  // namespace

double confidence_of(double score, double window_s) noexcept {
  return -std::expm1(-std::log(10.0) * kNinesAtBar * std::max(0.0, score) / bar(window_s));
}

double score_for(double confidence, double window_s) noexcept {
  return -std::log10(1.0 - confidence) / kNinesAtBar * bar(window_s);
}

}  // namespace spintag::fingerprint
