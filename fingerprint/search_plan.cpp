// fingerprint/search_plan.cpp - the numbers of the search; EXPERIMENTS.md has what others gave.
#include "fingerprint/search_plan.h"

#include <algorithm>
#include <cmath>

namespace spintag::fingerprint {
namespace {

constexpr int kSparse = 25;  ///< peaks a second: finds what processing alone has been through
constexpr int kDense = 150;  ///< finds music under speech, whose own peaks are the stronger ones
constexpr int kSpeedDense = 40;

// Verification moves a fit by up to 1.2 % of tempo and 0.7 % of pitch: neighbours of the grid meet
// halfway.
constexpr double kTempoStep = 0.02;
constexpr int kTempoSteps = 6;  ///< to each side, +-12 % and what the last step reaches beyond
constexpr double kPitchesPerOctave = 144;
constexpr int kPitchSteps = 39;       ///< to each side: 3 1/4 semitones
constexpr int kSpeedPitchSteps = 23;  ///< to each side: 11 %

/// Pitch ratio number k to one side or the other: 0, 1, -1, 2, -2 ...
double pitch_ratio(int number) {
  const int k = (number + 1) / 2;
  return std::exp2((number % 2 == 1 ? k : -k) / kPitchesPerOctave);
}

}  // namespace

std::vector<Hypothesis> full_grid() {
  std::vector<Hypothesis> grid;
  for (int p = 0; p <= 2 * kPitchSteps; ++p) {
    for (int t = -kTempoSteps; t <= kTempoSteps; ++t)
      grid.push_back({1 + t * kTempoStep, pitch_ratio(p)});
  }
  return grid;
}

std::vector<Hypothesis> speed_line() {
  std::vector<Hypothesis> line;
  for (int p = 0; p <= 2 * kSpeedPitchSteps; ++p) line.push_back({pitch_ratio(p), pitch_ratio(p)});
  return line;
}

std::vector<Search> searches_of(const MatchOptions& options) {
  std::vector<Search> searches;
  searches.push_back({.hypotheses = options.hypotheses,
                      .peaks_per_s = kSparse,
                      .soft = {0.4, 0.4},
                      .nominations = 8,
                      .pooled = 16});
  searches.push_back({.hypotheses = options.hypotheses,
                      .peaks_per_s = kDense,
                      .soft = {0.3, 0.3},
                      .nominations = 48,
                      .pooled = 64});
  if (!options.any_speed) return searches;
  searches.push_back({.hypotheses = full_grid(),
                      .peaks_per_s = kSparse,
                      .soft = {0.2, 0.4},
                      .nominations = 4,
                      .pooled = 96});
  searches.push_back({.hypotheses = speed_line(),
                      .peaks_per_s = kSpeedDense,
                      .soft = {0.2, 0.3},
                      .nominations = 4,
                      .pooled = 64});
  return searches;
}

}  // namespace spintag::fingerprint
