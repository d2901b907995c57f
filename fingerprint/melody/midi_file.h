// fingerprint/melody/midi_file.h - Standard MIDI Files: who plays which notes when, in seconds.
// Source: MIDI Manufacturers Association, "Standard MIDI Files 1.0" (RP-001), 1996.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// A key that is struck and let go. Of one voice several may sound at a time.
struct MidiNote {
  double onset_s = 0;
  double duration_s = 0;  ///< 0 where key down and key up fall together
  int pitch = 0;          ///< 0 to 127; 69 is the A of 440 Hz
  int velocity = 0;       ///< 1 to 127

  friend bool operator==(const MidiNote&, const MidiNote&) = default;
};

/// What one track plays on one channel; never without notes.
struct MidiVoice {
  std::string name;  ///< of the track, bytes as in the file
  std::size_t track = 0;
  int channel = 0;              ///< 0 to 15
  bool drums = false;           ///< channel 9, where a key is a drum and not a pitch
  std::vector<MidiNote> notes;  ///< by onset, then pitch
};

struct MidiSong {
  std::string title;              ///< name of the first track, bytes as in the file; often empty
  std::vector<MidiVoice> voices;  ///< by track, then channel
  double length_s = 0;            ///< until the last note ends
};

/// What is longer or larger is no song, and what is made of it would not fit into memory.
inline constexpr std::size_t kLargestMidiFile = 4 << 20;
inline constexpr double kLongestMidiSong_s = 3 * 3600;

/// Formats 0, 1 and 2 (the patterns of format 2 follow each other), metrical and SMPTE time, RMID.
/// Times follow the tempo changes of all tracks. A key that is struck again before it was let go is
/// let go as often, the first struck first; one that is never let go sounds to the end of its
/// track.
/// @param name  of the source, for errors
/// @throws MelodyError naming source, byte and what is wrong; also if there is no note at all
MidiSong read_midi(std::span<const std::byte> bytes, const std::string& name);

/// The same from a file. @throws MelodyError also if it cannot be read
MidiSong read_midi_file(const std::string& path);

}  // namespace spintag::fingerprint
