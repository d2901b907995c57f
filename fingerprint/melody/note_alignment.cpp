// fingerprint/melody/note_alignment.cpp - dynamic programming over notes and frames.
#include "fingerprint/melody/note_alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/multiversion.h"

namespace spintag::fingerprint {
namespace {

constexpr float kNever = std::numeric_limits<float>::infinity();
/// Pitches are told relative to this one, so that squares stay small.
constexpr float kMiddlePitch = 60;
/// How much longer or shorter than expected one note may be, and the way to it from the start.
constexpr float kShortestNote = 0.45F;
constexpr float kLongestNote = 2.0F;
constexpr float kEarliest = 0.75F;
constexpr float kLatest = 1.3F;
constexpr float kSlackFrames = 12;

float square(float x) { return x * x; }

/// What one path asks of the note that it sings next.
struct Expected {
  float cost = 0;   ///< of all before, and of the note whatever it is like
  float pitch = 0;  ///< above kMiddlePitch
  float frames = 0;
  float logarithm = 0;        ///< of the frames
  float pitch_weight = 0;     ///< of a squared error
  float duration_weight = 0;  ///< likewise
  float cut_below = 0;        ///< a logarithm so much smaller costs nothing: the hum began later
  float key = 0;
  float frames_per_s = 0;
};

struct Note {
  float cost = 0;
  float pitch_error = 0;
  float slower = 0;
  bool cut = false;
};

[[gnu::always_inline]] inline Note note_of(const Expected& expected, float mean, float within,
                                           float logarithm, const NoteAlignmentParams& params) {
  Note note;
  note.pitch_error = mean - expected.pitch;
  note.slower = logarithm - expected.logarithm;
  note.cut = note.slower < expected.cut_below;
  const float wrong = note.pitch_error * note.pitch_error * expected.pitch_weight;
  const float uneven = note.slower * note.slower * expected.duration_weight;
  note.cost = expected.cost + (wrong < params.pitch_limit ? wrong : params.pitch_limit) + within +
              (note.cut                         ? 0.0F
               : uneven < params.duration_limit ? uneven
                                                : params.duration_limit);
  return note;
}

/// Notes of every length from `shortest` up to `end`, put where the path is cheaper than what is
/// there. All arrays begin at the path's frame.
SPINTAG_CLONES void sing_lengths(const Expected& expected, const NoteAlignmentParams& params,
                                 int shortest, int end, const float* __restrict means,
                                 const float* __restrict within, const float* __restrict logarithms,
                                 float* __restrict costs, float* __restrict keys,
                                 float* __restrict frames_per_s) {
  for (int length = shortest; length < end; ++length) {
    const Note note = note_of(expected, means[length], within[length], logarithms[length], params);
    const float share = static_cast<float>(length) / expected.frames;
    const float weight = share < 1.0F ? share : 1.0F;
    const float off = std::clamp(note.pitch_error, -1.0F, 1.0F);
    const float slow = note.cut ? 0.0F : std::clamp(note.slower, -0.3F, 0.3F);
    const float key = expected.key + params.key_drift * weight * off;
    const float tempo = expected.frames_per_s * (1 + params.tempo_drift * weight * slow);
    const bool cheaper = note.cost < costs[length];
    costs[length] = cheaper ? note.cost : costs[length];
    keys[length] = cheaper ? key : keys[length];
    frames_per_s[length] = cheaper ? tempo : frames_per_s[length];
  }
}

}  // namespace

NoteAlignment::NoteAlignment(const Contour& hum, const NoteAlignmentParams& params)
    : params_(params),
      frames_(hum.size()),
      means_(hum.size() * (hum.size() + 1)),
      within_(means_.size()),
      logarithms_(hum.size() + 1) {
  for (Paths* paths : {&row_, &one_before_, &two_before_}) {
    for (auto* values : {&paths->costs, &paths->keys, &paths->frames_per_s}) {
      values->resize(hum.size() + 1);
    }
  }
  std::vector<double> sums(frames_ + 1);  // of the pitches before each frame, and of their squares
  std::vector<double> squares(frames_ + 1);
  for (std::size_t i = 0; i < frames_; ++i) {
    const double pitch = hum[i] - kMiddlePitch;
    sums[i + 1] = sums[i] + pitch;
    squares[i + 1] = squares[i] + pitch * pitch;
    logarithms_[i + 1] = std::log(static_cast<float>(i + 1));
  }
  for (std::size_t begin = 0; begin < frames_; ++begin) {
    for (std::size_t end = begin + 1; end <= frames_; ++end) {
      // A glide from the note before takes the first 30 to 60 ms.
      const std::size_t length = end - begin;
      const std::size_t glide = length > 6 ? 2 : length > 3 ? 1 : 0;
      const auto n = static_cast<double>(length - glide);
      const double mean = (sums[end] - sums[begin + glide]) / n;
      const double variance = (squares[end] - squares[begin + glide]) / n - mean * mean;
      const float within =
          static_cast<float>(std::max(variance, 0.0)) / (2 * square(params_.within_sd));
      means_[begin * (frames_ + 1) + length] = static_cast<float>(mean);
      within_[begin * (frames_ + 1) + length] =
          static_cast<float>(n) * std::min(within, params_.within_limit);
    }
  }
}

void NoteAlignment::extend(const Paths& before, std::size_t begin, const Step& step) {
  Expected expected;
  expected.cost = before.costs[begin] + step.penalty + params_.note_cost;
  expected.pitch = step.pitch + before.keys[begin] - kMiddlePitch;
  expected.frames = std::max(0.5F, step.seconds * before.frames_per_s[begin]);
  expected.logarithm = std::log(expected.frames);
  expected.pitch_weight = 1 / (2 * square(params_.pitch_sd));
  expected.duration_weight =
      1 /
      (2 * (square(params_.duration_sd) + square(params_.boundary_sd_frames / expected.frames)));
  expected.cut_below = step.first ? 0 : -kNever;
  expected.key = before.keys[begin];
  expected.frames_per_s = before.frames_per_s[begin];
  const std::size_t left = frames_ - begin;
  const auto longest = std::min(left, static_cast<std::size_t>(expected.frames * kLongestNote + 2));
  const auto shortest = std::min(
      left, step.first ? 1
                       : std::max<std::size_t>(
                             1, static_cast<std::size_t>(expected.frames * kShortestNote)));
  const float* means = row(means_, begin);
  const float* within = row(within_, begin);
  sing_lengths(expected, params_, static_cast<int>(shortest),
               static_cast<int>(std::min(longest + 1, left)), means, within, logarithms_.data(),
               row_.costs.data() + begin, row_.keys.data() + begin,
               row_.frames_per_s.data() + begin);
  if (longest < left) return;
  expected.cut_below = 0;  // the hum ends here and need not hold all of the note
  Note note = note_of(expected, means[left], within[left], logarithms_[left], params_);
  if (step.last && !note.cut) {  // the last note may be held
    const float uneven = square(note.slower) * expected.duration_weight;
    note.cost += std::min(uneven, 1.0F) - std::min(uneven, params_.duration_limit);
  }
  best_ = std::min(best_, note.cost);
}

void NoteAlignment::sing(const Paths& before, const Step& step, std::size_t from, std::size_t to) {
  for (std::size_t begin = from; begin <= to; ++begin) {
    if (before.costs[begin] + step.penalty < std::min(limit_, best_)) extend(before, begin, step);
  }
}

float NoteAlignment::cost(const Melody& melody, const SungFrom& from) {
  const auto& notes = melody.notes;
  const auto frames_per_s = static_cast<float>(kContourRate) / from.tempo;
  const auto clear = [](Paths& paths) {
    std::fill(paths.costs.begin(), paths.costs.end(), kNever);
  };
  clear(one_before_);
  clear(two_before_);
  one_before_.costs[0] = 0;
  one_before_.keys[0] = from.key;
  one_before_.frames_per_s[0] = frames_per_s;
  best_ = kNever;
  for (std::size_t k = from.note; k < notes.size(); ++k) {
    clear(row_);
    const bool first = k == from.note;
    const bool last = k + 1 == notes.size();
    const float way = (notes[k].onset_s - notes[from.note].onset_s) * frames_per_s;
    const auto limit = static_cast<float>(frames_ - 1);
    const auto earliest =
        static_cast<std::size_t>(std::clamp(way * kEarliest - kSlackFrames, 0.0F, limit));
    const auto latest =
        first ? 0 : static_cast<std::size_t>(std::min(way * kLatest + kSlackFrames, limit));
    float cheapest = kNever;
    for (std::size_t t = earliest; t <= latest; ++t) {
      cheapest =
          std::min({cheapest, one_before_.costs[t], two_before_.costs[t] + params_.left_out_cost});
    }
    if (cheapest >= best_) break;
    limit_ = cheapest + params_.beam;
    const float seconds = last ? notes[k].duration_s : notes[k + 1].onset_s - notes[k].onset_s;
    Step step{notes[k].pitch, seconds, 0, first, last};
    sing(one_before_, step, earliest, latest);
    if (!first) {  // the time of a note left out is gone, or this note takes it
      step.penalty = params_.left_out_cost;
      sing(two_before_, step, earliest, latest);
      step.seconds += notes[k].onset_s - notes[k - 1].onset_s;
      sing(two_before_, step, earliest, latest);
    }
    std::swap(two_before_, one_before_);
    std::swap(one_before_, row_);
  }
  return best_;
}

}  // namespace spintag::fingerprint
