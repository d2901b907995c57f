// fingerprint/melody/packed_melody.cpp - melodies as the bytes that the store keeps.
#include "fingerprint/melody/packed_melody.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace spintag::fingerprint {

namespace {

constexpr double kMs = 1000;  // a second
constexpr std::uint64_t kLongest_ms = static_cast<std::uint64_t>(kLongestMelody_s * kMs);
constexpr std::uint64_t kLongestTogether_ms = static_cast<std::uint64_t>(kLongestMelodies_s * kMs);
constexpr int kHighestPitch = 127;
constexpr int kFineSteps = 100;  // a semitone
// Onsets are floats: an hour into a song they are this far apart, and so may the end of one note
// lie behind the onset of the next.
constexpr double kTouching_s = 0.002;

void put(std::vector<std::byte>& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80U));
  to.push_back(static_cast<std::byte>(value));
}

std::uint64_t fold(std::int64_t value) {
  return value < 0 ? 2 * static_cast<std::uint64_t>(-(value + 1)) + 1
                   : 2 * static_cast<std::uint64_t>(value);
}

std::int64_t unfold(std::uint64_t value) {
  const auto half = static_cast<std::int64_t>(value >> 1);
  return (value & 1) != 0 ? -half - 1 : half;
}

bool is_valid(const MelodyNote& note, double after_s) {
  return note.onset_s >= after_s - kTouching_s && note.duration_s > 0 &&
         double{note.onset_s} + note.duration_s <= kLongestMelody_s && note.pitch >= 0 &&
         note.pitch <= kHighestPitch;
}

void check(const Melody& melody) {
  if (melody.notes.empty()) throw MelodyError("a melody without notes");
  double end_s = 0;
  for (const MelodyNote& note : melody.notes) {
    if (!is_valid(note, end_s)) {
      throw MelodyError("a note at " + std::to_string(note.onset_s) + " s of " +
                        std::to_string(note.duration_s) + " s and pitch " +
                        std::to_string(note.pitch) + " cannot be stored");
    }
    end_s = double{note.onset_s} + note.duration_s;
  }
  for (std::size_t i = 0; i < melody.phrases.size(); ++i) {
    if (melody.phrases[i] >= melody.notes.size() ||
        (i > 0 && melody.phrases[i] <= melody.phrases[i - 1])) {
      throw MelodyError("phrases that are no notes, or out of order");
    }
  }
}

/// @return its length in milliseconds
std::uint64_t pack(const Melody& melody, std::vector<std::byte>& to) {
  check(melody);
  const bool whole = std::ranges::all_of(
      melody.notes, [](const MelodyNote& note) { return note.pitch == std::round(note.pitch); });
  const int steps = whole ? 1 : kFineSteps;
  put(to, static_cast<std::uint64_t>(steps));
  put(to, melody.notes.size());
  put(to, melody.phrases.size());
  std::int64_t end_ms = 0;
  std::int64_t pitch = 0;
  for (const MelodyNote& note : melody.notes) {
    const std::int64_t onset_ms = std::max<std::int64_t>(end_ms, std::llround(note.onset_s * kMs));
    const double note_end_s = double{note.onset_s} + note.duration_s;
    const std::int64_t note_end_ms =
        std::max<std::int64_t>(onset_ms + 1, std::llround(note_end_s * kMs));
    if (note_end_ms > static_cast<std::int64_t>(kLongest_ms)) {
      throw MelodyError("too many notes of less than a millisecond");
    }
    const std::int64_t note_pitch = std::llround(double{note.pitch} * steps);
    put(to, static_cast<std::uint64_t>(onset_ms - end_ms));
    put(to, static_cast<std::uint64_t>(note_end_ms - onset_ms));
    put(to, fold(note_pitch - pitch));
    end_ms = note_end_ms;
    pitch = note_pitch;
  }
  std::uint32_t before = 0;
  for (const std::uint32_t phrase : melody.phrases) {
    put(to, phrase - before);
    before = phrase;
  }
  return static_cast<std::uint64_t>(end_ms);
}

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::vector<Melody> melodies() {
    std::vector<Melody> melodies;
    const std::uint64_t count = take(bytes_.size());
    for (std::uint64_t i = 0; i < count; ++i) melodies.push_back(melody());
    if (at_ != bytes_.size()) fail();
    return melodies;
  }

 private:
  [[noreturn]] void fail() const {
    throw MelodyError("damaged at byte " + std::to_string(at_) + " of " +
                      std::to_string(bytes_.size()));
  }

  /// @param most  what is larger is damaged
  std::uint64_t take(std::uint64_t most) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      if (at_ == bytes_.size()) fail();
      const auto next = std::to_integer<std::uint64_t>(bytes_[at_++]);
      value |= (next & 0x7FU) << shift;
      if (next < 0x80) {
        if (value > most) fail();
        return value;
      }
    }
    fail();
  }

  Melody melody() {
    const auto steps = static_cast<int>(take(kFineSteps));
    if (steps != 1 && steps != kFineSteps) fail();
    const std::uint64_t notes = take(bytes_.size() - at_);  // none has less than a byte
    const std::uint64_t phrases = take(notes);
    if (notes == 0) fail();
    Melody melody;
    melody.notes.reserve(notes);
    std::uint64_t end_ms = 0;
    std::int64_t pitch = 0;
    for (std::uint64_t i = 0; i < notes; ++i) {
      const std::uint64_t onset_ms = end_ms + take(kLongest_ms);
      const std::uint64_t duration_ms = take(kLongest_ms);
      pitch += unfold(take(2 * kHighestPitch * kFineSteps));
      end_ms = onset_ms + duration_ms;
      if (duration_ms == 0 || end_ms > kLongest_ms || pitch < 0 || pitch > kHighestPitch * steps) {
        fail();
      }
      melody.notes.push_back({static_cast<float>(static_cast<double>(onset_ms) / kMs),
                              static_cast<float>(static_cast<double>(duration_ms) / kMs),
                              static_cast<float>(static_cast<double>(pitch) / steps)});
    }
    std::uint64_t phrase = 0;
    for (std::uint64_t i = 0; i < phrases; ++i) {
      const std::uint64_t step = take(notes);
      phrase += step;
      if (phrase >= notes || (i > 0 && step == 0)) fail();
      melody.phrases.push_back(static_cast<std::uint32_t>(phrase));
    }
    together_ms_ += end_ms;
    if (together_ms_ > kLongestTogether_ms) fail();
    return melody;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t together_ms_ = 0;  ///< all melodies so far
};

}  // namespace

std::vector<std::byte> pack_melodies(std::span<const Melody> melodies) {
  std::vector<std::byte> packed;
  put(packed, melodies.size());
  std::uint64_t together_ms = 0;
  for (const Melody& melody : melodies) together_ms += pack(melody, packed);
  if (together_ms > kLongestTogether_ms) {
    throw MelodyError("melodies of more than " +
                      std::to_string(static_cast<int>(kLongestMelodies_s / 3600)) +
                      " hours together");
  }
  return packed;
}

std::vector<Melody> unpack_melodies(std::span<const std::byte> packed) {
  return Unpacker(packed).melodies();
}

}  // namespace spintag::fingerprint
