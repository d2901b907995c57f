// fingerprint/melody/note_alignment.cpp - dynamic programming over notes and frames.
#include "fingerprint/melody/note_alignment.h"

#include <algorithm>
#include <utility>

#include "kernels/multiversion.h"

namespace spintag::fingerprint {

using namespace note_alignment;

note_alignment::HumTables::HumTables(const Contour& hum)
    : pitches(hum.size() + 1), squares(hum.size() + 1), logarithms(hum.size() + 1) {
  for (std::size_t i = 0; i < hum.size(); ++i) {
    const double pitch = hum[i] - kMiddlePitch;
    pitches[i + 1] = pitches[i] + pitch;
    squares[i + 1] = squares[i] + pitch * pitch;
    logarithms[i + 1] = logarithm(static_cast<float>(i + 1));
  }
}

namespace {

/// Notes of every length from `shortest` up to `end`, put where the path is cheaper than what is
/// there. All arrays begin at the path's frame.
SPINTAG_CLONES void sing_lengths(const Expected& expected, const NoteAlignmentParams& params,
                                 int shortest, int end, const float* __restrict means,
                                 const float* __restrict within, const float* __restrict logarithms,
                                 float* __restrict costs, float* __restrict keys,
                                 float* __restrict frames_per_s) {
  for (int length = shortest; length < end; ++length) {
    const Note note = note_of(expected, means[length], within[length], logarithms[length], params);
    const State path = after(expected, static_cast<std::uint32_t>(length), note, params);
    const bool cheaper = note.cost < costs[length];
    costs[length] = cheaper ? path.cost : costs[length];
    keys[length] = cheaper ? path.key : keys[length];
    frames_per_s[length] = cheaper ? path.frames_per_s : frames_per_s[length];
  }
}

}  // namespace

NoteAlignment::NoteAlignment(const Contour& hum, const NoteAlignmentParams& params)
    : params_(params),
      frames_(hum.size()),
      means_(hum.size() * (hum.size() + 1)),
      within_(means_.size()) {
  for (Paths* paths : {&row_, &one_before_, &two_before_}) {
    for (auto* values : {&paths->costs, &paths->keys, &paths->frames_per_s}) {
      values->resize(hum.size() + 1);
    }
  }
  HumTables tables(hum);
  for (std::uint32_t begin = 0; begin < frames_; ++begin) {
    for (std::uint32_t length = 1; begin + length <= frames_; ++length) {
      const Held note = held(tables.sums(), begin, length, params_);
      means_[begin * (frames_ + 1) + length] = note.mean;
      within_[begin * (frames_ + 1) + length] = note.within;
    }
  }
  logarithms_ = std::move(tables.logarithms);
}

void NoteAlignment::extend(const Paths& before, std::size_t begin, const Step& step) {
  const std::size_t left = frames_ - begin;
  const State state{before.costs[begin], before.keys[begin], before.frames_per_s[begin]};
  const Expected expected = expected_of(state, step, static_cast<std::uint32_t>(left), params_);
  const float* means = row(means_, begin);
  const float* within = row(within_, begin);
  sing_lengths(expected, params_, static_cast<int>(expected.shortest),
               static_cast<int>(std::min<std::size_t>(expected.longest + 1, left)), means, within,
               logarithms_.data(), row_.costs.data() + begin, row_.keys.data() + begin,
               row_.frames_per_s.data() + begin);
  if (expected.longest < left) return;
  best_ = std::min(best_, cost_at_end(expected, {means[left], within[left]}, logarithms_[left],
                                      step.last, params_));
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
    const Beginnings at = beginnings(notes[from.note], notes[k], frames_per_s,
                                     static_cast<std::uint32_t>(frames_), first);
    float cheapest = kNever;
    for (std::uint32_t t = at.earliest; t <= at.latest; ++t) {
      cheapest =
          std::min({cheapest, one_before_.costs[t], two_before_.costs[t] + params_.left_out_cost});
    }
    if (cheapest >= best_) break;
    limit_ = cheapest + params_.beam;
    Step step = step_of(notes.data(), k, notes.size(), first);
    sing(one_before_, step, at.earliest, at.latest);
    if (!first) {  // the time of a note left out is gone, or this note takes it
      step.penalty = params_.left_out_cost;
      sing(two_before_, step, at.earliest, at.latest);
      step.seconds += notes[k].onset_s - notes[k - 1].onset_s;
      sing(two_before_, step, at.earliest, at.latest);
    }
    std::swap(two_before_, one_before_);
    std::swap(one_before_, row_);
  }
  return best_;
}

}  // namespace spintag::fingerprint
