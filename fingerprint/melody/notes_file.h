// fingerprint/melody/notes_file.h - melodies as text, one a line.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

struct NamedMelody {
  std::string id;
  Melody melody;
};

/// Reads `.notes`: tab-separated id, events and phrase starts; a line that begins with # is a
/// comment, an empty one nothing. Events are separated by spaces: PITCH:QUARTERS, a MIDI note (or
/// `r` for a rest) and its length in quarters of half a second. Phrase starts are the numbers of
/// events, ascending and separated by commas; the column may be missing. A phrase that starts with
/// a rest starts with the note after it.
/// @param name  of the source, for errors
/// @throws MelodyError naming source, line and what is wrong
std::vector<NamedMelody> read_notes(std::istream& in, const std::string& name);

/// The same from a file. @throws MelodyError also if it cannot be opened
std::vector<NamedMelody> read_notes_file(const std::string& path);

}  // namespace spintag::fingerprint
