// fingerprint/melody/melody_matcher.cpp - linear scaling, warping, transposition, notes.
#include "fingerprint/melody/melody_matcher.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "fingerprint/melody/alignment_costs.h"
#include "fingerprint/melody/ascending_order.h"
#include "fingerprint/melody/hum_tempo.h"
#include "kernels/linear_scaling.h"
#include "kernels/warping.h"

namespace spintag::fingerprint {
namespace {

using kernels::ScalingHit;
using kernels::WarpingCandidate;

/// How much of a melody a hum is warped against, beyond what linear scaling says, in the hum's
/// frames.
constexpr double kRoomBefore = 12;
constexpr double kRoomInAll = 24;
constexpr double kSlowerBy = 1.2;
/// The fast match looks at every second tempo: its windows are short.
constexpr std::size_t kFastTempi = 2;
/// The phrase that was hummed begins with a note that begins that much later than the start found.
constexpr float kNoteGrace_s = 0.15F;

/// A start that is looked at more closely.
struct Start {
  ScalingHit hit;
  WarpingCandidate candidate;
  std::uint16_t distance = 0;
  std::size_t compared = 1;  ///< frames of the hum, of which it is
};

/// One search: a hum and what is left of the starts.
class Search {
 public:
  Search(kernels::Device& device, const MelodyIndex& index, const ResidentMelodies& resident,
         const MelodyMatchParams& params, Contour hum)
      : device_(device), index_(index), resident_(resident), params_(params), hum_(std::move(hum)) {
    for (const float pitch : hum_) query_.push_back(fine_pitch(pitch));
    const double octaves = std::log2(params.fastest / params.slowest);
    const int steps = static_cast<int>(std::ceil(octaves * params.tempi_per_octave));
    for (int i = 0; i <= steps; ++i) {
      tempi_.push_back(params.slowest * std::exp2(octaves * i / std::max(steps, 1)));
      scaled_.push_back(at_tempo(hum_, tempi_.back()));
    }
  }

  /// @param nominate  std::vector<std::uint32_t>(std::span<const double> tempi): melodies to look
  /// at
  template <class Nominate>
  std::vector<MelodyMatch> run(Nominate&& nominate) {
    const std::vector<std::uint32_t> melodies = nominate(std::span<const double>(tempi_));
    find_starts(melodies);
    find_transpositions();
    std::vector<MelodyMatch> matches = judge();
    for (std::size_t i = matches.size(); i < starts_.size(); ++i) matches.push_back(match_of(i));
    return once_each(matches);
  }

 private:
  void find_starts(std::span<const std::uint32_t> melodies) {
    const kernels::ScalingParams scaling{.hits_per_sequence = params_.starts_per_melody,
                                         .threads = params_.threads};
    auto hits =
        params_.serial
            ? kernels::serial_linear_scaling(index_.coarse(), scaled_, melodies, scaling)
            : kernels::linear_scaling(device_, resident_.coarse, scaled_, melodies, scaling);
    // The bits of distances are in the distances' order, since none is negative.
    sort_by(hits, [](const ScalingHit& hit) { return std::bit_cast<std::uint64_t>(hit.distance); });
    hits.resize(std::min(hits.size(), params_.warped));
    const auto levels = kernels::median_levels(device_, resident_.coarse, scaled_, hits);
    for (std::size_t i = 0; i < hits.size(); ++i) {
      starts_.push_back({hits[i], candidate_at(hits[i], levels[i]), 0});
    }
  }

  /// The melody from a little before the start, read as fast as the hum is sung.
  /// @param level  median of what the hum is above it: a wrong note does not move that
  WarpingCandidate candidate_at(const ScalingHit& hit, float level) const {
    const double tempo = tempi_[hit.scale];
    const auto frames = static_cast<double>(hum_.size());
    return {.first = index_.fine_first(hit.sequence),
            .count = index_.fine_count(hit.sequence),
            .start = static_cast<std::int32_t>(
                std::lround(static_cast<double>(hit.start * kCoarseFrames) - kRoomBefore * tempo)),
            .step = static_cast<std::uint32_t>(std::lround(tempo * 65536)),
            .length = static_cast<std::uint32_t>(frames * kSlowerBy + kRoomInAll),
            .level = static_cast<std::int32_t>(std::lround(level * 100 / kCoarseSteps))};
  }

  /// Of every start at the first shift of its level, then of every start at the next.
  /// @param every  frame that is compared: 1 or 2
  std::vector<std::uint16_t> distances_at(std::initializer_list<std::int32_t> shifts,
                                          std::uint32_t every) const {
    std::vector<WarpingCandidate> candidates;
    candidates.reserve(shifts.size() * starts_.size());
    for (const std::int32_t shift : shifts) {
      for (const Start& start : starts_) {
        candidates.push_back(start.candidate);
        candidates.back().level += shift;
        candidates.back().step *= every;
        candidates.back().length = (candidates.back().length + every - 1) / every;
      }
    }
    std::vector<std::int16_t> query;
    for (std::size_t i = 0; i < query_.size(); i += every) query.push_back(query_[i]);
    const kernels::WarpingParams warping{.threads = params_.threads};
    return params_.serial
               ? kernels::serial_warping_distances(index_.fine(), query, candidates, warping)
               : kernels::warping_distances(device_, resident_.fine, query, candidates, warping);
  }

  void measure(std::uint32_t every) {
    const auto distances = distances_at({0}, every);
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      starts_[i].distance = distances[i];
      starts_[i].compared = (query_.size() + every - 1) / every;
    }
  }

  /// The best so many, best first.
  void keep(std::size_t count) {
    sort_by(starts_, [](const Start& start) { return std::uint64_t{start.distance}; });
    left_over_.insert(left_over_.begin(), starts_.begin() + std::min(count, starts_.size()),
                      starts_.end());
    starts_.resize(std::min(count, starts_.size()));
  }

  /// The halving search: every start moves to the best of three levels, then the span is halved.
  void find_transpositions() {
    measure(2);
    for (std::int32_t span = 100; span >= params_.finest_span; span = (span + 1) / 2) {
      keep(span >= 100  ? params_.left_at_100
           : span >= 50 ? params_.left_at_50
                        : params_.left_at_25);
      if (span == 50) measure(1);
      const auto distances = distances_at({-span, span}, span >= 100 ? 2 : 1);
      const auto below = std::span(distances).first(starts_.size());
      const auto above = std::span(distances).last(starts_.size());
      for (std::size_t i = 0; i < starts_.size(); ++i) {
        Start& start = starts_[i];
        const std::uint16_t best = std::min({start.distance, below[i], above[i]});
        if (best < start.distance) start.candidate.level += below[i] == best ? -span : span;
        start.distance = best;
      }
      if (span == 1) break;
    }
    keep(starts_.size());
    put_repeats_last();
    starts_.insert(starts_.end(), left_over_.begin(), left_over_.end());
  }

  /// A tune that repeats a phrase has it at several starts; one of them is enough to judge.
  void put_repeats_last() {
    std::vector<Start> repeats;
    std::vector<Start> kept;
    for (const Start& start : starts_) {
      const bool repeated = std::any_of(kept.begin(), kept.end(), [&](const Start& other) {
        return other.hit.sequence == start.hit.sequence && other.distance == start.distance &&
               other.candidate.level == start.candidate.level;
      });
      (repeated ? repeats : kept).push_back(start);
    }
    kept.insert(kept.end(), repeats.begin(), repeats.end());
    starts_ = std::move(kept);
  }

  MelodyMatch match_of(std::size_t i) const {
    const Start& start = starts_[i];
    return {.melody = start.hit.sequence,
            .cost = static_cast<float>(start.distance) / static_cast<float>(start.compared),
            .judged = false,
            .start_s = static_cast<float>(start.hit.start * kCoarseFrames / kContourRate),
            .tempo = static_cast<float>(tempi_[start.hit.scale]),
            .transposition = static_cast<float>(start.candidate.level) / 100};
  }

  /// What the judge says of a start, and the note that is there.
  struct Verdict {
    MelodyMatch match;
    std::size_t note = 0;
  };

  Verdict unjudged(std::size_t i) const {
    Verdict verdict{match_of(i)};
    const auto& notes = index_.melody(verdict.match.melody).notes;
    const float latest_s = verdict.match.start_s + kNoteGrace_s;
    while (verdict.note + 1 < notes.size() && notes[verdict.note + 1].onset_s <= latest_s) {
      ++verdict.note;
    }
    verdict.match.judged = true;
    verdict.match.cost = std::numeric_limits<float>::infinity();
    return verdict;
  }

  /// Sings starts from so many notes after theirs, and takes what is cheaper.
  void sing_from(std::initializer_list<int> notes_after, std::span<Verdict> verdicts) const {
    std::vector<SungMelody> sung;
    std::vector<Verdict*> whose;
    for (Verdict& verdict : verdicts) {
      const Melody& melody = index_.melody(verdict.match.melody);
      for (const int after : notes_after) {
        const std::size_t note = verdict.note + static_cast<std::size_t>(after);  // may wrap
        if (note >= melody.notes.size()) continue;
        sung.push_back({&melody, {note, verdict.match.tempo, verdict.match.transposition}});
        whose.push_back(&verdict);
      }
    }
    kernels::Device cpu = kernels::Device::cpu();
    const auto costs = alignment_costs(params_.serial ? cpu : device_, hum_, sung, params_.notes,
                                       params_.serial ? 1 : params_.threads);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      MelodyMatch& match = whose[i]->match;
      if (costs[i] >= match.cost) continue;
      match.cost = costs[i];
      match.start_s = sung[i].melody->notes[sung[i].from.note].onset_s;
    }
    std::ranges::stable_sort(verdicts, {}, [](const Verdict& v) { return v.match.cost; });
  }

  std::vector<MelodyMatch> judge() const {
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < std::min(params_.judged, starts_.size()); ++i) {
      verdicts.push_back(unjudged(i));
    }
    sing_from({0}, verdicts);
    sing_from({-1, 1}, std::span(verdicts).first(std::min(params_.judged_around, verdicts.size())));
    std::vector<MelodyMatch> matches;
    for (const Verdict& verdict : verdicts) matches.push_back(verdict.match);
    return matches;
  }

  std::vector<MelodyMatch> once_each(std::span<const MelodyMatch> matches) const {
    std::vector<MelodyMatch> out;
    out.reserve(index_.size());
    std::vector<bool> seen(index_.size());
    for (const MelodyMatch& match : matches) {
      if (seen[match.melody]) continue;
      seen[match.melody] = true;
      out.push_back(match);
    }
    return out;
  }

  kernels::Device& device_;
  const MelodyIndex& index_;
  const ResidentMelodies& resident_;
  const MelodyMatchParams& params_;
  Contour hum_;
  std::vector<std::int16_t> query_;
  std::vector<double> tempi_;
  std::vector<std::vector<float>> scaled_;  ///< the hum at each of tempi_
  std::vector<Start> starts_;
  std::vector<Start> left_over_;  ///< by the round that dropped them, the last first
};

}  // namespace

MelodyMatcher::MelodyMatcher(const MelodyIndex& index, const MelodyMatchParams& params,
                             const PermutationIndex* fast)
    : index_(index), params_(params), fast_(fast) {}

std::vector<MelodyMatch> MelodyMatcher::match(kernels::Device& device, const Contour& pitch_track) {
  Contour hum = bridge(pitch_track);
  if (hum.size() < kShortestHum || index_.size() == 0) return {};
  smooth(hum);
  hum.resize(std::min(hum.size(), static_cast<std::size_t>(params_.longest_s * kContourRate)));
  const auto nominate = [&](std::span<const double> tempi) {
    if (fast_ != nullptr) {
      std::vector<double> some;
      for (std::size_t i = 0; i < tempi.size(); i += kFastTempi) some.push_back(tempi[i]);
      return fast_->candidates(pitch_track, some, params_.share, params_.threads);
    }
    std::vector<std::uint32_t> melodies(index_.size());
    std::iota(melodies.begin(), melodies.end(), 0U);
    return melodies;
  };
  if (!resident_ || !resident_->is_of(device, index_)) resident_.emplace(device, index_);
  return Search(device, index_, *resident_, params_, std::move(hum)).run(nominate);
}

}  // namespace spintag::fingerprint
