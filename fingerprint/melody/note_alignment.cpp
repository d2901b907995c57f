// fingerprint/melody/note_alignment.cpp - dynamic programming over notes and frames.
#include "fingerprint/melody/note_alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spintag::fingerprint {
namespace {

constexpr float kNever = std::numeric_limits<float>::infinity();
/// Pitches are summed relative to this one, so that squares stay small.
constexpr double kMiddlePitch = 60;
/// How much longer or shorter than expected one note may be, and the way to it from the start.
constexpr float kShortestNote = 0.45F;
constexpr float kLongestNote = 2.0F;
constexpr float kEarliest = 0.75F;
constexpr float kLatest = 1.3F;
constexpr float kSlackFrames = 12;

float square(float x) { return x * x; }

}  // namespace

NoteAlignment::NoteAlignment(const Contour& hum, const NoteAlignmentParams& params)
    : params_(params),
      frames_(hum.size()),
      sums_(hum.size() + 1),
      squares_(hum.size() + 1),
      logarithms_(hum.size() + 1),
      row_(hum.size() + 1),
      one_before_(hum.size() + 1),
      two_before_(hum.size() + 1) {
  for (std::size_t i = 0; i < hum.size(); ++i) {
    const double pitch = hum[i] - kMiddlePitch;
    sums_[i + 1] = sums_[i] + pitch;
    squares_[i + 1] = squares_[i] + pitch * pitch;
    logarithms_[i + 1] = std::log(static_cast<float>(i + 1));
  }
}

float NoteAlignment::pitch_cost(std::size_t begin, std::size_t end, float expected,
                                float& error) const {
  // A glide from the note before takes the first 30 to 60 ms.
  const std::size_t length = end - begin;
  const std::size_t glide = length > 6 ? 2 : length > 3 ? 1 : 0;
  const auto n = static_cast<double>(length - glide);
  const double mean = (sums_[end] - sums_[begin + glide]) / n;
  const double variance = (squares_[end] - squares_[begin + glide]) / n - mean * mean;
  error = static_cast<float>(mean + kMiddlePitch) - expected;
  const float within =
      static_cast<float>(std::max(variance, 0.0)) / (2 * square(params_.within_sd));
  return std::min(square(error) / (2 * square(params_.pitch_sd)), params_.pitch_limit) +
         static_cast<float>(n) * std::min(within, params_.within_limit);
}

void NoteAlignment::extend(const State& state, std::size_t begin, const Step& step) {
  const float expected_frames = std::max(0.5F, step.seconds * state.frames_per_s);
  const float expected_log = std::log(expected_frames);
  const float variance =
      square(params_.duration_sd) + square(params_.boundary_sd_frames / expected_frames);
  const std::size_t left = frames_ - begin;
  const auto longest = std::min(left, static_cast<std::size_t>(expected_frames * kLongestNote + 2));
  const auto shortest = std::min(
      left, step.first ? 1
                       : std::max<std::size_t>(
                             1, static_cast<std::size_t>(expected_frames * kShortestNote)));
  for (std::size_t length = shortest; length <= longest; ++length) {
    const std::size_t end = begin + length;
    const bool ends_hum = end == frames_;
    float error = 0;
    const float pitch = pitch_cost(begin, end, step.pitch + state.key, error);
    const float slower = logarithms_[length] - expected_log;
    const bool cut = slower < 0 && (step.first || ends_hum);  // the hum need not hold all of it
    float duration = cut ? 0 : std::min(square(slower) / (2 * variance), params_.duration_limit);
    if (ends_hum && step.last) duration = std::min(duration, 1.0F);
    const float cost = state.cost + step.penalty + pitch + duration + params_.note_cost;
    if (ends_hum) {
      best_ = std::min(best_, cost);
    } else if (cost < row_[end].cost) {
      const float weight = std::min(1.0F, static_cast<float>(length) / expected_frames);
      const float key = params_.key_drift * weight * std::clamp(error, -1.0F, 1.0F);
      const float tempo = cut ? 0 : params_.tempo_drift * weight * std::clamp(slower, -0.3F, 0.3F);
      row_[end] = {cost, state.key + key, state.frames_per_s * (1 + tempo)};
    }
  }
}

void NoteAlignment::sing(const std::vector<State>& before, const Step& step, std::size_t from,
                         std::size_t to) {
  for (std::size_t begin = from; begin <= to; ++begin) {
    const State& state = before[begin];
    if (state.cost + step.penalty < std::min(limit_, best_)) extend(state, begin, step);
  }
}

float NoteAlignment::cost(const Melody& melody, const SungFrom& from) {
  const auto& notes = melody.notes;
  const auto frames_per_s = static_cast<float>(kContourRate) / from.tempo;
  const State nowhere{kNever, 0, 0};
  std::fill(one_before_.begin(), one_before_.end(), nowhere);
  std::fill(two_before_.begin(), two_before_.end(), nowhere);
  one_before_[0] = {0, from.key, frames_per_s};
  best_ = kNever;
  for (std::size_t k = from.note; k < notes.size(); ++k) {
    std::fill(row_.begin(), row_.end(), nowhere);
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
          std::min({cheapest, one_before_[t].cost, two_before_[t].cost + params_.left_out_cost});
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
