// fingerprint/melody/main_melody.h - the tune of a song of several voices.
// Sources: A. Uitdenbogerd, J. Zobel, "Manipulation of Music for Melody Matching", ACM Multimedia
// 1998, for the skyline; D. Rizo et al., "A Pattern Recognition Approach for Melody Track Selection
// in MIDI Files", ISMIR 2006, for what tells a leading voice from others.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fingerprint/melody/melody.h"
#include "fingerprint/melody/midi_file.h"

namespace spintag::fingerprint {

/// What a voice is like, each between 0 and 1.
struct VoiceMeasures {
  double sounding = 0;  ///< share of the song in which it sounds, doubled: half the song is enough
  double single = 0;    ///< share of its notes that the skyline keeps: 1 = never a chord
  double height = 0;    ///< mean pitch, from 40 (0) to 80 (1)
  double variety = 0;   ///< entropy of its pitches over three bits: ostinati have little
  double singable = 0;  ///< share of its intervals that are a fifth or less, and no repetition
};

/// What each measure counts for when voices are compared. With equal weights, and without the
/// ceiling of `sounding`, a voice of mean pitch 46 or less, a bass that never rests, led 5 of the
/// 31 songs of Debian's openttd-openmsx; with these, none. A right hand plays chords under its
/// tune, hence the half.
struct VoiceWeights {
  double sounding = 1;
  double single = 0.5;
  double height = 2;
  double variety = 1;
  double singable = 1;
};

VoiceMeasures measure(const MidiVoice& voice, double song_s);

/// One voice of several: at each onset the highest note, until the next one begins. A note that
/// sounds mostly under a higher one is left out; notes without duration are, too.
/// @param notes  by onset
std::vector<MelodyNote> skyline(std::span<const MidiNote> notes);

/// The voice that most likely has the tune. Drums never have it.
/// @return its place in song.voices
/// @throws MelodyError if there is nothing but drums
std::size_t leading_voice(const MidiSong& song, const VoiceWeights& weights = {});

/// The skyline of the leading voice with its phrases. Begins with the first note at 0.
/// @throws MelodyError if no note is left
Melody main_melody(const MidiSong& song);

}  // namespace spintag::fingerprint
