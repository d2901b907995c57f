// fingerprint/melody/notes_file.h - melodies as text, one a line.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
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
/// a rest starts with the note after it. A UTF-8 byte order mark at the start is left out.
/// @param name  of the source, for errors
/// @throws MelodyError naming source, line and what is wrong
std::vector<NamedMelody> read_notes(std::istream& in, const std::string& name);

/// The next line that is neither empty nor a comment, without its end and the byte order mark.
/// @param number  of the line read last, 0 before the first; counted on
/// @return false at the end, or if `in` cannot be read
bool next_notes_line(std::istream& in, std::string& line, std::size_t& number);

/// What next_notes_line() gave.
/// @throws MelodyError that says what is wrong, no more than 40 bytes of the line's text in it
NamedMelody parse_notes_line(std::string_view line);

/// The same as read_notes() from a file. @throws MelodyError also if it cannot be opened
std::vector<NamedMelody> read_notes_file(const std::string& path);

}  // namespace spintag::fingerprint
