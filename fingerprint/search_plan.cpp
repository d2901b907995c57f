// fingerprint/search_plan.cpp - the numbers of the search; EXPERIMENTS.md has what others gave.
#include "fingerprint/search_plan.h"

#include <cmath>
#include <utility>

namespace spintag::fingerprint {
namespace {

// Peaks of the query a second.
constexpr int kSparse = 25;  ///< finds what processing alone has been through
constexpr int kMedium = 40;
constexpr int kDense = 60;
constexpr int kDensest = 150;  ///< finds music under speech, whose own peaks are the stronger ones

// Verification moves a fit by up to 1.2 % of tempo and 0.7 % of pitch: neighbours of the grid meet
// halfway.
constexpr double kTempoStep = 0.02;
constexpr int kTempoSteps = 6;  ///< to each side, +-12 % and what the last step reaches beyond
constexpr double kPitchesPerOctave = 144;
constexpr int kPitchSteps = 39;  ///< to each side: 3 1/4 semitones
constexpr int kSpeedSteps = 23;  ///< of pitch, to each side: 11 %

// Votes that a window of 10 s meets for each hour of catalogue: per hypothesis of a grid, or of a
// search that is softer. Measured on real music.
constexpr double kGridVotes = 85;
constexpr double kMediumVotes = 160;
constexpr double kDenseVotes = 1000;
constexpr double kDensestVotes = 3400;
/// What one search may cost: some 0.4 s of a core.
constexpr double kMostVotes = 50e6;

/// Pitch ratio number k to one side or the other: 0, 1, -1, 2, -2 ...
double pitch_ratio(int number) {
  const int k = (number + 1) / 2;
  return std::exp2((number % 2 == 1 ? k : -k) / kPitchesPerOctave);
}

Search unwarped(const std::vector<Hypothesis>& likely, int peaks_per_s, double soft,
                std::size_t nominations, std::size_t pooled) {
  return {likely, peaks_per_s, {soft, soft}, nominations, pooled};
}

Search grid(std::vector<Hypothesis> hypotheses, int peaks_per_s) {
  return {std::move(hypotheses), peaks_per_s, {0.1, 0.4}, 4, 96};
}

}  // namespace

Search search_at(const Hypothesis& hypothesis) {
  return unwarped({hypothesis}, kSparse, 0.4, 16, 32);
}

std::vector<Hypothesis> full_grid() {
  std::vector<Hypothesis> grid;
  for (int p = 0; p <= 2 * kPitchSteps; ++p) {
    for (const Hypothesis& tempo : tempo_line()) grid.push_back({tempo.tempo, pitch_ratio(p)});
  }
  return grid;
}

std::vector<Hypothesis> speed_line() {
  std::vector<Hypothesis> line;
  for (int p = 0; p <= 2 * kSpeedSteps; ++p) line.push_back({pitch_ratio(p), pitch_ratio(p)});
  return line;
}

std::vector<Hypothesis> tempo_line() {
  std::vector<Hypothesis> line;
  for (int t = -kTempoSteps; t <= kTempoSteps; ++t) line.push_back({1 + t * kTempoStep, 1});
  return line;
}

std::vector<Hypothesis> pitch_line() {
  std::vector<Hypothesis> line;
  for (int p = 0; p <= 2 * kPitchSteps; ++p) line.push_back({1, pitch_ratio(p)});
  return line;
}

std::vector<Search> searches_of(const MatchOptions& options, double catalogue_s) {
  const double hours = catalogue_s / 3600;
  std::vector<Search> searches;
  const auto add = [&](Search search, double votes_per_hypothesis) {
    const double votes =
        votes_per_hypothesis * hours * static_cast<double>(search.hypotheses.size());
    const bool affordable = votes <= kMostVotes;
    if (affordable) searches.push_back(std::move(search));
    return affordable;
  };
  // The first is asked whatever it costs.
  searches.push_back(unwarped(options.hypotheses, kSparse, 0.4, 8, 16));
  if (!add(unwarped(options.hypotheses, kDensest, 0.3, 48, 64), kDensestVotes))
    add(unwarped(options.hypotheses, kDense, 0.3, 48, 64), kDenseVotes);
  if (!options.any_speed) return searches;
  if (!add(grid(full_grid(), kSparse), kGridVotes)) {
    add(grid(speed_line(), kSparse), kGridVotes);
    add(grid(tempo_line(), kSparse), kGridVotes);
    add(grid(pitch_line(), kSparse), kGridVotes);
  }
  add(grid(speed_line(), kMedium), kMediumVotes);
  return searches;
}

}  // namespace spintag::fingerprint
