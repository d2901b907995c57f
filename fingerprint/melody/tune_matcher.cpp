// fingerprint/melody/tune_matcher.cpp - agreement of pitch classes at every start, tempo and key.
#include "fingerprint/melody/tune_matcher.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/multiversion.h"

namespace spintag::fingerprint {
namespace {

// Counts are bytes.
constexpr std::size_t kLongestQuery = 255;
constexpr double kLongestMix_s = 30;
constexpr std::size_t kBlock = 64;  // starts that are counted together

using Classes = std::vector<PitchClass>;

/// counts[start] = steps i at which the melody has wanted[i], for starts [0, kBlock). The counts of
/// a block stay in registers.
SPINTAG_CLONES void count_agreements(const PitchClass* __restrict melody,
                                     const PitchClass* __restrict wanted, std::size_t steps,
                                     std::uint8_t* __restrict counts) {
  std::array<std::uint8_t, kBlock> sums{};
  for (std::size_t i = 0; i < steps; ++i) {
    const PitchClass* __restrict here = melody + i;
    const PitchClass want = wanted[i];
    for (std::size_t s = 0; s < kBlock; ++s) {
      sums[s] = static_cast<std::uint8_t>(sums[s] + (here[s] == want ? 1 : 0));
    }
  }
  for (std::size_t s = 0; s < kBlock; ++s) counts[s] = sums[s];
}

/// The mix at one tempo.
struct Query {
  double tempo = 1;
  Classes classes;
  std::array<Classes, 12> wanted;  ///< of a melody that is so many semitones below
  std::size_t voiced = 0;
};

Query query_at(const Contour& mix, float tuning, double tempo) {
  Query query;
  query.tempo = tempo;
  query.classes = pitch_classes(mix, tuning, static_cast<double>(kClassFrames) / tempo);
  query.classes.resize(std::min(query.classes.size(), kLongestQuery));
  query.voiced =
      query.classes.size() - static_cast<std::size_t>(std::ranges::count(query.classes, kNoClass));
  for (std::size_t key = 0; key < 12; ++key) {
    for (const PitchClass one : query.classes) {
      // What no melody has, where the mix has nothing: 254.
      query.wanted[key].push_back(one == kNoClass ? kNoClass - 1
                                                  : static_cast<PitchClass>((one + 12 - key) % 12));
    }
  }
  return query;
}

/// A place of one melody, as its counts are told.
struct Place {
  std::uint32_t melody = 0;
  std::uint32_t start = 0;
  std::uint32_t tempo = 0;  ///< which query
  std::uint32_t key = 0;
  float agreement = 0;
};

class Search {
 public:
  Search(const TuneIndex& index, const TuneMatchParams& params, const Contour& mix)
      : index_(index), params_(params) {
    const float tuning = tuning_of(mix);
    const double octaves = std::log2(params.fastest / params.slowest);
    const int steps = static_cast<int>(std::ceil(octaves * params.tempi_per_octave));
    for (int i = 0; i <= steps; ++i) {
      const double tempo = params.slowest * std::exp2(octaves * i / std::max(steps, 1));
      Query query = query_at(mix, tuning, tempo);
      if (query.voiced >= params.least_voiced) queries_.push_back(std::move(query));
    }
  }

  std::optional<TuneAnswer> run(const std::stop_token& stop) {
    if (queries_.empty()) return std::nullopt;
    for (std::uint32_t melody = 0; melody < index_.size(); ++melody) {
      if (stop.stop_requested()) return std::nullopt;
      if (const auto place = best_place(melody)) places_.push_back(*place);
    }
    if (places_.empty()) return std::nullopt;
    std::ranges::stable_sort(places_, std::greater<>(), &Place::agreement);
    TuneAnswer answer;
    answer.melodies = places_.size();
    places_.resize(std::min(places_.size(), params_.looked_at));
    std::vector<TuneMatch> matches;
    for (const Place& place : places_) matches.push_back(match_of(place));
    std::size_t best = 0;
    for (std::size_t i = 1; i < matches.size(); ++i) {
      if (strength(matches[i]) > strength(matches[best])) best = i;
    }
    answer.best = matches[best];
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (i == best || same_tune(places_[best], places_[i])) continue;
      answer.second = std::max(answer.second, strength(matches[i]));
    }
    const Query& query = queries_[places_[best].tempo];
    const auto steps = static_cast<double>(query.classes.size());
    const double length_s = steps * kClassFrames / (kContourRate * query.tempo);
    answer.changes_a_s = static_cast<float>(changes_of(query.classes) / length_s);
    answer.voiced = static_cast<float>(static_cast<double>(query.voiced) / steps);
    return answer;
  }

 private:
  static float strength(const TuneMatch& match) { return match.agreement + match.changes; }

  static bool is_change(const Classes& classes, std::size_t i) {
    return classes[i] != kNoClass && classes[i - 1] != kNoClass && classes[i] != classes[i - 1];
  }

  static double changes_of(const Classes& classes) {
    std::size_t count = 0;
    for (std::size_t i = 1; i < classes.size(); ++i) count += is_change(classes, i) ? 1 : 0;
    return static_cast<double>(count);
  }

  std::optional<Place> best_place(std::uint32_t melody) {
    const std::span<const PitchClass> tune = index_[melody];
    std::optional<Place> best;
    for (std::uint32_t tempo = 0; tempo < queries_.size(); ++tempo) {
      const Query& query = queries_[tempo];
      const std::size_t steps = query.classes.size();
      const auto over = static_cast<std::size_t>(params_.overhang * static_cast<double>(steps));
      if (tune.size() + over < steps) continue;
      const std::size_t starts = tune.size() + over - steps + 1;
      padded_.assign(tune.begin(), tune.end());
      padded_.resize(steps + (starts + kBlock - 1) / kBlock * kBlock, kNoClass);
      for (std::uint32_t key = 0; key < 12; ++key) {
        for (std::size_t at = 0; at < starts; at += kBlock) {
          std::array<std::uint8_t, kBlock> counts;
          count_agreements(padded_.data() + at, query.wanted[key].data(), steps, counts.data());
          const std::size_t valid = std::min(kBlock, starts - at);
          const auto most = std::max_element(counts.begin(), counts.begin() + valid);
          const float agreement = static_cast<float>(*most) / static_cast<float>(query.voiced);
          if (best && agreement <= best->agreement) continue;
          best = Place{melody, static_cast<std::uint32_t>(at + (most - counts.begin())), tempo, key,
                       agreement};
        }
      }
    }
    return best;
  }

  /// The melody's class at a step of the query, as the query's key has it.
  PitchClass class_at(const Place& place, std::ptrdiff_t step) const {
    const std::span<const PitchClass> tune = index_[place.melody];
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(place.start) + step;
    if (at < 0 || at >= static_cast<std::ptrdiff_t>(tune.size()) || tune[at] == kNoClass) {
      return kNoClass;
    }
    return static_cast<PitchClass>((tune[at] + place.key) % 12);
  }

  /// Notes that both hold agree by chance; that both change at one time, from and to the same, does
  /// not.
  float changes_made(const Place& place) const {
    const Classes& classes = queries_[place.tempo].classes;
    std::size_t made = 0;
    for (std::size_t i = 1; i < classes.size(); ++i) {
      if (!is_change(classes, i)) continue;
      for (const std::ptrdiff_t shift : {0, -1, 1}) {
        const auto step = static_cast<std::ptrdiff_t>(i) + shift;
        if (class_at(place, step) != classes[i] || class_at(place, step - 1) != classes[i - 1]) {
          continue;
        }
        ++made;
        break;
      }
    }
    return static_cast<float>(static_cast<double>(made) / std::max(1.0, changes_of(classes)));
  }

  TuneMatch match_of(const Place& place) const {
    return {.melody = place.melody,
            .agreement = place.agreement,
            .changes = changes_made(place),
            .start_s = static_cast<float>(place.start * kClassFrames / kContourRate),
            .tempo = static_cast<float>(queries_[place.tempo].tempo),
            .key = place.key > 6 ? static_cast<int>(place.key) - 12 : static_cast<int>(place.key)};
  }

  /// A tune that the catalogue has twice has no rival in itself.
  bool same_tune(const Place& a, const Place& b) const {
    std::size_t agreed = 0;
    std::size_t compared = 0;
    const double ratio = queries_[b.tempo].tempo / queries_[a.tempo].tempo;
    const std::size_t steps = queries_[a.tempo].classes.size();
    for (std::size_t i = 0; i < steps; ++i) {
      const PitchClass of_a = class_at(a, static_cast<std::ptrdiff_t>(i));
      if (of_a == kNoClass) continue;
      // Step i of the mix at a's tempo is this one at b's.
      const auto step = std::lround((static_cast<double>(i) + 0.5) * ratio - 0.5);
      ++compared;
      agreed += class_at(b, step) == of_a ? 1 : 0;
    }
    return static_cast<double>(agreed) >= params_.same_tune * static_cast<double>(compared);
  }

  const TuneIndex& index_;
  const TuneMatchParams& params_;
  std::vector<Query> queries_;
  std::vector<Place> places_;
  Classes padded_;
};

}  // namespace

TuneMatcher::TuneMatcher(const TuneIndex& index, const TuneMatchParams& params)
    : index_(index), params_(params) {}

std::optional<TuneAnswer> TuneMatcher::match(const Contour& mix,
                                             const std::stop_token& stop) const {
  Contour cut = mix;
  cut.resize(std::min(cut.size(), static_cast<std::size_t>(kLongestMix_s * kContourRate)));
  return Search(index_, params_, cut).run(stop);
}

}  // namespace spintag::fingerprint
