// fingerprint/melody/note_alignment_model.h - the numbers and the arithmetic of note_alignment.h,
// which the processor and a CUDA device share to the last bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fingerprint/melody/melody.h"
#include "fingerprint/portable_math.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

/// Chosen on generated hums with other errors than the test hums.
struct NoteAlignmentParams {
  float pitch_sd = 0.6F;            ///< semitones, of a note
  float pitch_limit = 10;           ///< a wrong note costs at most that
  float within_sd = 0.35F;          ///< semitones, of frames around their note's mean
  float within_limit = 2;           ///< a frame costs at most that
  float duration_sd = 0.18F;        ///< of the logarithm of a note's duration
  float boundary_sd_frames = 1.2F;  ///< where a note begins is not known better than that
  float duration_limit = 8;         ///< a wrong duration costs at most that
  float note_cost = 1.5F;           ///< of a note more: else many short notes explain anything
  float left_out_cost = 4;          ///< of a note of the melody that is not sung
  float key_drift = 0.15F;          ///< share of a note's error that the key follows
  float tempo_drift = 0.1F;         ///< share of a duration's error that the tempo follows
  float beam = 25;                  ///< paths that cost that much more than the note's best end
};

namespace note_alignment {

inline constexpr float kNever = std::numeric_limits<float>::infinity();
/// Pitches are told relative to this one, so that squares stay small.
inline constexpr float kMiddlePitch = 60;
/// How much longer or shorter than expected one note may be, and the way to it from the start.
inline constexpr float kShortestNote = 0.45F;
inline constexpr float kLongestNote = 2.0F;
inline constexpr float kEarliest = 0.75F;
inline constexpr float kLatest = 1.3F;
inline constexpr float kSlackFrames = 12;

SPINTAG_HOST_DEVICE inline float square(float x) { return x * x; }

/// A path where its newest note ends.
struct State {
  float cost;
  float key;           ///< semitones, as the path has it
  float frames_per_s;  ///< frames of the hum a second of the melody
};

/// A note about to be sung by the paths of one row.
struct Step {
  float pitch = 0;
  float seconds = 0;  ///< until the next note
  float penalty = 0;
  bool first = false;
  bool last = false;
};

/// Note k of a melody.
SPINTAG_HOST_DEVICE inline Step step_of(const MelodyNote* notes, std::size_t k, std::size_t count,
                                        bool first) {
  const bool last = k + 1 == count;
  return {.pitch = notes[k].pitch,
          .seconds = last ? notes[k].duration_s : notes[k + 1].onset_s - notes[k].onset_s,
          .penalty = 0,
          .first = first,
          .last = last};
}

/// A hum: sums over the frames before each, and one more, of their pitches above kMiddlePitch and
/// of the squares of these.
struct Sums {
  const double* pitches;
  const double* squares;
};

/// What a hum brings along, whatever melody it is compared with.
struct HumTables {
  explicit HumTables(const Contour& hum);
  Sums sums() const { return {pitches.data(), squares.data()}; }

  std::vector<double> pitches;  ///< see Sums
  std::vector<double> squares;
  std::vector<float> logarithms;  ///< of the numbers of frames, from 1 on
};

/// What the frames of a note are like, however it was expected.
struct Held {
  float mean;    ///< above kMiddlePitch
  float within;  ///< what they cost for lying around it
};
SPINTAG_HOST_DEVICE inline Held held(const Sums& hum, std::uint32_t begin, std::uint32_t length,
                                     const NoteAlignmentParams& params) {
  // A glide from the note before takes the first 30 to 60 ms.
  const std::uint32_t from = begin + (length > 6 ? 2 : length > 3 ? 1 : 0);
  const std::uint32_t end = begin + length;
  const double n = end - from;
  const double mean = (hum.pitches[end] - hum.pitches[from]) / n;
  const double variance = (hum.squares[end] - hum.squares[from]) / n - mean * mean;
  const float within = static_cast<float>(std::max(variance, 0.0)) / (2 * square(params.within_sd));
  return {static_cast<float>(mean), static_cast<float>(n) * std::min(within, params.within_limit)};
}

/// The logarithm of a number of frames.
SPINTAG_HOST_DEVICE inline float logarithm(float frames) {
  return static_cast<float>(portable_log(frames));
}

/// Frames at which a note may begin.
struct Beginnings {
  std::uint32_t earliest;
  std::uint32_t latest;
};
SPINTAG_HOST_DEVICE inline Beginnings beginnings(const MelodyNote& first, const MelodyNote& note,
                                                 float frames_per_s, std::uint32_t frames,
                                                 bool is_first) {
  const float way = (note.onset_s - first.onset_s) * frames_per_s;
  const auto limit = static_cast<float>(frames - 1);
  return {static_cast<std::uint32_t>(std::clamp(way * kEarliest - kSlackFrames, 0.0F, limit)),
          is_first ? 0 : static_cast<std::uint32_t>(std::min(way * kLatest + kSlackFrames, limit))};
}

/// What one path asks of the note that it sings next.
struct Expected {
  float cost;   ///< of all before, and of the note whatever it is like
  float pitch;  ///< above kMiddlePitch
  float frames;
  float logarithm;        ///< of the frames
  float pitch_weight;     ///< of a squared error
  float duration_weight;  ///< likewise
  float cut_below;        ///< a logarithm so much smaller costs nothing: the hum began later
  float key;
  float frames_per_s;
  std::uint32_t shortest;  ///< frames that it tries
  std::uint32_t longest;
};
/// @param left  frames of the hum from there on, at least 1
SPINTAG_HOST_DEVICE inline Expected expected_of(const State& state, const Step& step,
                                                std::uint32_t left,
                                                const NoteAlignmentParams& params) {
  const float frames = std::max(0.5F, step.seconds * state.frames_per_s);
  const auto up_to = [left](float length) {
    return static_cast<std::uint32_t>(std::min(length, static_cast<float>(left)));
  };
  const float variance = square(params.duration_sd) + square(params.boundary_sd_frames / frames);
  return {.cost = state.cost + step.penalty + params.note_cost,
          .pitch = step.pitch + state.key - kMiddlePitch,
          .frames = frames,
          .logarithm = logarithm(frames),
          .pitch_weight = 1 / (2 * square(params.pitch_sd)),
          .duration_weight = 1 / (2 * variance),
          .cut_below = step.first ? 0 : -kNever,
          .key = state.key,
          .frames_per_s = state.frames_per_s,
          .shortest = step.first ? 1 : up_to(std::max(1.0F, frames * kShortestNote)),
          .longest = up_to(frames * kLongestNote + 2)};
}

/// A note as one path sings it.
struct Note {
  float cost;  ///< of the path with it
  float pitch_error;
  float slower;  ///< logarithm of how much longer than expected
  bool cut;      ///< the hum need not hold all of it
};
/// @param frames_logarithm  of the frames that it takes
[[gnu::always_inline]] SPINTAG_HOST_DEVICE inline Note note_of(const Expected& expected, float mean,
                                                               float within, float frames_logarithm,
                                                               const NoteAlignmentParams& params) {
  const float pitch_error = mean - expected.pitch;
  const float slower = frames_logarithm - expected.logarithm;
  const bool cut = slower < expected.cut_below;
  const float wrong = pitch_error * pitch_error * expected.pitch_weight;
  const float uneven = slower * slower * expected.duration_weight;
  const float duration = cut                              ? 0.0F
                         : uneven < params.duration_limit ? uneven
                                                          : params.duration_limit;
  return {.cost = expected.cost + (wrong < params.pitch_limit ? wrong : params.pitch_limit) +
                  within + duration,
          .pitch_error = pitch_error,
          .slower = slower,
          .cut = cut};
}

/// The cost of a path whose note ends with the hum, which need not hold all of it, and of which the
/// melody's last note may be held.
SPINTAG_HOST_DEVICE inline float cost_at_end(Expected expected, const Held& all,
                                             float frames_logarithm, bool last,
                                             const NoteAlignmentParams& params) {
  expected.cut_below = 0;
  const Note note = note_of(expected, all.mean, all.within, frames_logarithm, params);
  if (!last || note.cut) return note.cost;
  const float uneven = square(note.slower) * expected.duration_weight;
  return note.cost + (std::min(uneven, 1.0F) - std::min(uneven, params.duration_limit));
}

/// The path after a note of so many frames.
[[gnu::always_inline]] SPINTAG_HOST_DEVICE inline State after(const Expected& expected,
                                                              std::uint32_t length,
                                                              const Note& note,
                                                              const NoteAlignmentParams& params) {
  const float share = static_cast<float>(static_cast<int>(length)) / expected.frames;
  const float weight = share < 1.0F ? share : 1.0F;
  const float off = std::clamp(note.pitch_error, -1.0F, 1.0F);
  const float slow = note.cut ? 0.0F : std::clamp(note.slower, -0.3F, 0.3F);
  return {note.cost, expected.key + params.key_drift * weight * off,
          expected.frames_per_s * (1 + params.tempo_drift * weight * slow)};
}

}  // namespace note_alignment
}  // namespace spintag::fingerprint
