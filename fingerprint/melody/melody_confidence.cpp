// fingerprint/melody/melody_confidence.cpp - how sure it is that a mix plays a melody.
#include "fingerprint/melody/melody_confidence.h"

#include <algorithm>
#include <cmath>

namespace spintag::fingerprint {
namespace {

struct Weights {
  double constant = -9;
  double agreement = 6;
  double changes = 8;
  double gap = 12;  ///< of agreement + changes before the best other tune
};
constexpr Weights kWeights;

}  // namespace

double melody_confidence(const TuneAnswer& answer) {
  const TuneMatch& best = answer.best;
  const double gap = double{best.agreement} + best.changes - answer.second;
  const double log_odds = kWeights.constant + kWeights.agreement * best.agreement +
                          kWeights.changes * best.changes + kWeights.gap * gap;
  return std::min(kSurestMelody, 1 / (1 + std::exp(-log_odds)));
}

}  // namespace spintag::fingerprint
