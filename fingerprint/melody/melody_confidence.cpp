// fingerprint/melody/melody_confidence.cpp - how sure it is that a mix plays a melody.
#include "fingerprint/melody/melody_confidence.h"

#include <algorithm>
#include <cmath>

namespace spintag::fingerprint {
namespace {

// Log odds = constant + weight * evidence; evidence = gap * changes a second: how much better the
// best melody agrees than any other one, of a mix that says so much. Notes that are held for long
// agree with many a melody: without the second factor a drone of one recording was told for sure.
constexpr double kConstant = -5.55;
constexpr double kWeight = 12.5;
constexpr double kMostChanges = 2.5;  // a second; of more it is not known that they count more

}  // namespace

double melody_confidence(const TuneAnswer& answer) {
  const TuneMatch& best = answer.best;
  const double gap = double{best.agreement} + best.changes - answer.second;
  const double evidence = gap * std::min(kMostChanges, double{answer.changes_a_s});
  return std::min(kSurestMelody, 1 / (1 + std::exp(-(kConstant + kWeight * evidence))));
}

}  // namespace spintag::fingerprint
