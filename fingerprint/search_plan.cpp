// fingerprint/search_plan.cpp - the numbers of the search; EXPERIMENTS.md has what others gave.
#include "fingerprint/search_plan.h"

#include <cmath>
#include <utility>

namespace spintag::fingerprint {
namespace {

// Peaks of the query a second.
constexpr int kStrongest = 14;
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

/// A look at the index and what it costs: the votes, or what costs as much, that a window of 10 s
/// meets for each hour of catalogue and hypothesis. Measured on real music, those of every bucket
/// among 71 tracks, the others among 100,000.
struct Look {
  int peaks_per_s;
  Softness soft;
  std::uint32_t longest_bucket;
  double votes;  ///< 0: asked whatever it costs
};
constexpr Look kGrid{kSparse, {0.1, 0.4}, kEveryBucket, 85};
constexpr Look kMediumGrid{kMedium, {0.1, 0.4}, kEveryBucket, 160};
constexpr Look kUnderSpeech{kDensest, {0.3, 0.3}, kEveryBucket, 3400};
/// Answers nearly all that is known: where hashes are rare, few agreements are no chance.
constexpr Look kRarest{kSparse, {0.1, 0.1}, 64, 0};
/// Buckets so long are of notes that everything holds; a track that repeats one bar for minutes has
/// some hundred words in its own.
constexpr Look kProcessed{kSparse, {0.4, 0.4}, 1024, 0};
// Of a large catalogue.
constexpr Look kRareUnderSpeech{kDensest, {0.3, 0.3}, 128, 420};
constexpr Look kRareUnderSomeSpeech{kDense, {0.3, 0.3}, 128, 70};
// Where music crowds on few notes, only long buckets know it, and a reference keeps its 12
// strongest peaks a second: few peaks with long buckets find more for less than many with short
// ones.
constexpr Look kStrongLine{kStrongest, {0.1, 0.3}, kEveryBucket, 12};
constexpr Look kTempoLine{kSparse, {0.1, 0.4}, 1024, 30};
constexpr Look kStrongGrid{kStrongest, {0.1, 0.4}, 256, 1.3};

/// What a search may cost that is asked of small catalogues: some 0.3 s of a core ...
constexpr double kMostVotes = 10e6;
/// ... and one that is cut down already.
constexpr double kMostLastVotes = 20e6;

/// Pitch ratio number k to one side or the other: 0, 1, -1, 2, -2 ...
double pitch_ratio(int number) {
  const int k = (number + 1) / 2;
  return std::exp2((number % 2 == 1 ? k : -k) / kPitchesPerOctave);
}

Search search(std::vector<Hypothesis> hypotheses, const Look& look, std::size_t nominations,
              std::size_t pooled) {
  return {std::move(hypotheses), look.peaks_per_s, look.soft,
          nominations,           pooled,           look.longest_bucket};
}

}  // namespace

Search search_at(const Hypothesis& hypothesis) { return search({hypothesis}, kProcessed, 16, 32); }

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
  const auto add = [&](const std::vector<Hypothesis>& hypotheses, const Look& look,
                       std::size_t nominations, std::size_t pooled, double most_votes) {
    const double votes = look.votes * hours * static_cast<double>(hypotheses.size());
    const bool affordable = votes <= most_votes;
    if (affordable) searches.push_back(search(hypotheses, look, nominations, pooled));
    return affordable;
  };
  const auto& likely = options.hypotheses;
  // The first two are asked whatever they cost.
  searches.push_back(search(likely, kRarest, 8, 8));
  searches.push_back(search(likely, kProcessed, 8, 16));
  if (!add(likely, kUnderSpeech, 48, 64, kMostVotes) &&
      !add(likely, kRareUnderSpeech, 48, 64, kMostLastVotes)) {
    add(likely, kRareUnderSomeSpeech, 48, 64, kMostLastVotes);
  }
  if (!options.any_speed) return searches;
  if (!add(full_grid(), kGrid, 4, 96, kMostVotes)) {
    add(speed_line(), kStrongLine, 4, 96, kMostLastVotes);
    add(tempo_line(), kTempoLine, 4, 96, kMostLastVotes);
    add(pitch_line(), kStrongLine, 4, 96, kMostLastVotes);
    add(full_grid(), kStrongGrid, 4, 96, kMostLastVotes);
  }
  add(speed_line(), kMediumGrid, 4, 96, kMostVotes);
  return searches;
}

}  // namespace spintag::fingerprint
