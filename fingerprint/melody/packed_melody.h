// fingerprint/melody/packed_melody.h - melodies as the bytes that the store keeps.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// How a track's melodies were got: the store keeps it beside them.
inline constexpr const char* kMelodyFromMidi = "midi";
inline constexpr const char* kMelodyFromNotes = "notes";
inline constexpr const char* kMelodyFromRecording = "recording";

/// Of the form below, and of how melodies are got; the store keeps it, too, and only melodies of
/// this version are read.
inline constexpr int kPackedMelodyVersion = 1;

/// What is longer is no melody: its contour would fill the memory.
inline constexpr double kLongestMelody_s = 3 * 3600;

/// Of all melodies of a track together, for the same reason: a few bytes are a melody.
inline constexpr double kLongestMelodies_s = 16 * kLongestMelody_s;

/// All melodies of a track, its voices, in some four bytes a note. Times are kept to the
/// millisecond (errors do not add up), pitches exactly if they are whole semitones, else to the
/// hundredth.
///
/// The form: the number of melodies, then each as steps per semitone (1 or 100), number of notes,
/// number of phrases, notes, phrases. A note is the milliseconds since the end of the one before,
/// milliseconds of its duration, steps from the pitch of the one before (from 0 for the first); a
/// phrase is the notes since the start of the one before. Numbers have 7 bits a byte, low ones
/// first, the top bit set in all but the last; signed ones are folded: 0, -1, 1, -2, ...
/// @throws MelodyError for a melody without notes, too long, with notes out of order, with pitches
/// outside 0 to 127 or phrases that are no notes; and for melodies that are too long together
std::vector<std::byte> pack_melodies(std::span<const Melody> melodies);

/// @throws MelodyError if the bytes are not what pack_melodies() makes
std::vector<Melody> unpack_melodies(std::span<const std::byte> packed);

}  // namespace spintag::fingerprint
