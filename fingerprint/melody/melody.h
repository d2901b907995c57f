// fingerprint/melody/melody.h - a tune as notes, and as pitch over time.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace spintag::fingerprint {

/// A melody that cannot be read. The message names the source, the line and what is wrong with it.
class MelodyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One note. Times are seconds at the reference tempo, 120 quarters a minute for written music.
struct MelodyNote {
  float onset_s = 0;
  float duration_s = 0;
  float pitch = 0;  ///< MIDI semitones: 69 is the A of 440 Hz

  friend bool operator==(const MelodyNote&, const MelodyNote&) = default;
};

/// Notes by onset, one voice: none begins before the one before it has ended. Rests are the gaps.
struct Melody {
  std::vector<MelodyNote> notes;
  std::vector<std::uint32_t> phrases;  ///< notes at which phrases start, ascending

  double length_s() const {
    return notes.empty() ? 0.0 : double{notes.back().onset_s} + notes.back().duration_s;
  }
};

/// Frames a second of every contour.
inline constexpr double kContourRate = 31.25;

/// Pitch over time at kContourRate, in semitones; frame i is the pitch at (i + 0.5) / kContourRate
/// seconds. A pitch track says 0 where there is no voice; a bridged contour has no such frames.
using Contour = std::vector<float>;

/// The melody's contour, bridged: a rest sounds the note before it, since a singer breathes
/// elsewhere than the sheet says; before the first note sounds the first.
Contour contour_of(const Melody& melody);

/// A pitch track bridged in the same manner, without the silence before and after it. Empty if
/// there is no voice in it.
Contour bridge(const Contour& pitch_track);

}  // namespace spintag::fingerprint
