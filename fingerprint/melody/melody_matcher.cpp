// fingerprint/melody/melody_matcher.cpp - linear scaling, warping, transposition, notes.
#include "fingerprint/melody/melody_matcher.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

#include "fingerprint/melody/hum_tempo.h"
#include "fingerprint/melody/median.h"
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
  Search(kernels::Device& device, const MelodyIndex& index, const MelodyMatchParams& params,
         Contour hum)
      : device_(device), index_(index), params_(params), hum_(std::move(hum)) {
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
    auto hits = params_.serial
                    ? kernels::serial_linear_scaling(index_.coarse(), scaled_, melodies, scaling)
                    : kernels::linear_scaling(device_, index_.coarse(), scaled_, melodies, scaling);
    std::ranges::stable_sort(hits, {}, &ScalingHit::distance);
    hits.resize(std::min(hits.size(), params_.warped));
    for (const ScalingHit& hit : hits) starts_.push_back({hit, candidate_at(hit), 0});
  }

  /// The melody from a little before the start, read as fast as the hum is sung.
  WarpingCandidate candidate_at(const ScalingHit& hit) const {
    const double tempo = tempi_[hit.scale];
    const auto frames = static_cast<double>(hum_.size());
    return {.first = index_.fine_first(hit.sequence),
            .count = index_.fine_count(hit.sequence),
            .start = static_cast<std::int32_t>(
                std::lround(static_cast<double>(hit.start * kCoarseFrames) - kRoomBefore * tempo)),
            .step = static_cast<std::uint32_t>(std::lround(tempo * 65536)),
            .length = static_cast<std::uint32_t>(frames * kSlowerBy + kRoomInAll),
            .level = first_level(hit)};
  }

  /// Median of what the hum is above the melody, point by point: a wrong note does not move it.
  std::int32_t first_level(const ScalingHit& hit) const {
    const std::vector<float>& query = scaled_[hit.scale];
    const std::span<const float> melody = index_.coarse()[hit.sequence];
    std::vector<float> above(query.size());
    for (std::size_t i = 0; i < query.size(); ++i) {
      above[i] = query[i] - melody[std::min(hit.start + i, melody.size() - 1)];
    }
    return static_cast<std::int32_t>(std::lround(median(above) * 100 / kCoarseSteps));
  }

  /// @param every  frame that is compared: 1 or 2
  std::vector<std::uint16_t> distances_at(std::int32_t shift, std::uint32_t every) const {
    std::vector<WarpingCandidate> candidates;
    candidates.reserve(starts_.size());
    for (const Start& start : starts_) {
      candidates.push_back(start.candidate);
      candidates.back().level += shift;
      candidates.back().step *= every;
      candidates.back().length = (candidates.back().length + every - 1) / every;
    }
    std::vector<std::int16_t> query;
    for (std::size_t i = 0; i < query_.size(); i += every) query.push_back(query_[i]);
    const kernels::WarpingParams warping{.threads = params_.threads};
    return params_.serial
               ? kernels::serial_warping_distances(index_.fine(), query, candidates, warping)
               : kernels::warping_distances(device_, index_.fine(), query, candidates, warping);
  }

  void measure(std::uint32_t every) {
    const auto distances = distances_at(0, every);
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      starts_[i].distance = distances[i];
      starts_[i].compared = (query_.size() + every - 1) / every;
    }
  }

  /// The best so many, best first.
  void keep(std::size_t count) {
    std::ranges::stable_sort(starts_, {}, &Start::distance);
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
      const std::uint32_t every = span >= 100 ? 2 : 1;
      const auto below = distances_at(-span, every);
      const auto above = distances_at(span, every);
      for (std::size_t i = 0; i < starts_.size(); ++i) {
        Start& start = starts_[i];
        const std::uint16_t best = std::min({start.distance, below[i], above[i]});
        if (best < start.distance) start.candidate.level += below[i] == best ? -span : span;
        start.distance = best;
      }
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

  /// What the judge says of a start, and the note from which.
  struct Verdict {
    MelodyMatch match;
    std::size_t note = 0;
  };

  void sing_from(std::size_t note, Verdict& verdict, NoteAlignment& alignment) const {
    MelodyMatch& match = verdict.match;
    const Melody& melody = index_.melody(match.melody);
    if (note >= melody.notes.size()) return;
    match.cost =
        std::min(match.cost, alignment.cost(melody, {note, match.tempo, match.transposition}));
  }

  /// A start from the note that is there.
  Verdict judged(std::size_t i, NoteAlignment& alignment) const {
    Verdict verdict{match_of(i)};
    const auto& notes = index_.melody(verdict.match.melody).notes;
    const float latest_s = verdict.match.start_s + kNoteGrace_s;
    while (verdict.note + 1 < notes.size() && notes[verdict.note + 1].onset_s <= latest_s) {
      ++verdict.note;
    }
    verdict.match.judged = true;
    verdict.match.cost = std::numeric_limits<float>::infinity();
    sing_from(verdict.note, verdict, alignment);
    return verdict;
  }

  /// work(i, alignment) for the first so many numbers, on all cores.
  template <class Work>
  void on_cores(std::size_t count, Work&& work) const {
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
      NoteAlignment alignment(hum_, params_.notes);
      for (std::size_t i; (i = next++) < count;) work(i, alignment);
    };
    const std::size_t cores = params_.serial         ? 1
                              : params_.threads != 0 ? params_.threads
                                                     : std::thread::hardware_concurrency();
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(cores, count); ++i) others.emplace_back(take);
    take();
  }

  std::vector<MelodyMatch> judge() const {
    std::vector<Verdict> verdicts(std::min(params_.judged, starts_.size()));
    const auto best_first = [&] {
      std::ranges::stable_sort(verdicts, {}, [](const Verdict& v) { return v.match.cost; });
    };
    on_cores(verdicts.size(),
             [&](std::size_t i, NoteAlignment& alignment) { verdicts[i] = judged(i, alignment); });
    best_first();
    on_cores(std::min(params_.judged_around, verdicts.size()),
             [&](std::size_t i, NoteAlignment& alignment) {
               const std::size_t note = verdicts[i].note;
               if (note > 0) sing_from(note - 1, verdicts[i], alignment);
               sing_from(note + 1, verdicts[i], alignment);
             });
    best_first();
    std::vector<MelodyMatch> matches;
    for (const Verdict& verdict : verdicts) matches.push_back(verdict.match);
    return matches;
  }

  std::vector<MelodyMatch> once_each(std::span<const MelodyMatch> matches) const {
    std::vector<MelodyMatch> out;
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

std::vector<MelodyMatch> MelodyMatcher::match(kernels::Device& device,
                                              const Contour& pitch_track) const {
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
  return Search(device, index_, params_, std::move(hum)).run(nominate);
}

}  // namespace spintag::fingerprint
