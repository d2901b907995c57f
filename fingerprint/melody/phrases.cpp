// fingerprint/melody/phrases.cpp - where the phrases of a melody start.
#include "fingerprint/melody/phrases.h"

#include <algorithm>
#include <cmath>

namespace spintag::fingerprint {

namespace {

/// Cambouropoulos 2001: the strength of interval i is s(i) = x(i) (r(i-1,i) + r(i,i+1)), where the
/// degree of change r(i,j) = |x(i) - x(j)| / (x(i) + x(j)), 0 for two zeros; each sequence is
/// scaled to a maximum of 1 before they are added.
void add_strengths(const std::vector<double>& x, double weight, std::vector<double>& total) {
  const auto change = [&](std::size_t i) {  // between x[i] and x[i + 1]
    const double sum = x[i] + x[i + 1];
    return sum > 0 ? std::abs(x[i] - x[i + 1]) / sum : 0.0;
  };
  std::vector<double> strengths(x.size());
  double highest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double before = i > 0 ? change(i - 1) : 0;
    const double after = i + 1 < x.size() ? change(i) : 0;
    strengths[i] = x[i] * (before + after);
    highest = std::max(highest, strengths[i]);
  }
  if (highest <= 0) return;
  for (std::size_t i = 0; i < x.size(); ++i) total[i + 1] += weight * strengths[i] / highest;
}

}  // namespace

std::vector<double> boundary_strengths(std::span<const MelodyNote> notes,
                                       const PhraseParams& params) {
  std::vector<double> total(notes.size());
  if (notes.size() < 2) return total;
  std::vector<double> pitches;
  std::vector<double> onsets;
  std::vector<double> rests;
  for (std::size_t i = 1; i < notes.size(); ++i) {
    const MelodyNote& from = notes[i - 1];
    const double between_s = double{notes[i].onset_s} - from.onset_s;
    pitches.push_back(std::abs(notes[i].pitch - from.pitch));
    onsets.push_back(between_s);
    rests.push_back(std::max(0.0, between_s - from.duration_s));
  }
  add_strengths(pitches, params.pitch_weight, total);
  add_strengths(onsets, params.onset_weight, total);
  add_strengths(rests, params.rest_weight, total);
  return total;
}

std::vector<std::uint32_t> phrase_starts(std::span<const MelodyNote> notes,
                                         const PhraseParams& params) {
  std::vector<std::uint32_t> starts;
  if (notes.empty()) return starts;
  starts.push_back(0);
  const std::vector<double> strengths = boundary_strengths(notes, params);
  for (std::size_t i = 1; i < notes.size(); ++i) {
    const double next = i + 1 < notes.size() ? strengths[i + 1] : 0;
    const bool peak = strengths[i] > strengths[i - 1] && strengths[i] >= next;
    if (peak && strengths[i] >= params.least_strength && i - starts.back() >= params.least_notes) {
      starts.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return starts;
}

}  // namespace spintag::fingerprint
