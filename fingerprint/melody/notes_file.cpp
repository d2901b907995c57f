// fingerprint/melody/notes_file.cpp - melodies as text, one a line.
#include "fingerprint/melody/notes_file.h"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <istream>
#include <string_view>
#include <system_error>

namespace spintag::fingerprint {
namespace {

constexpr double kSecondsPerQuarter = 0.5;
constexpr double kHighestPitch = 127;
constexpr double kLongestQuarters = 1024;
constexpr std::size_t kLongestQuote = 40;  // bytes: what is no melody may be a line of megabytes
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Cuts the text before the separator off, and returns it.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return head;
}

/// For messages: cut short, between two characters if it is UTF-8.
std::string shortened(std::string_view text) {
  if (text.size() <= kLongestQuote) return std::string(text);
  std::size_t end = kLongestQuote;
  const auto continues = [&] { return (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80; };
  while (end + 3 > kLongestQuote && continues()) --end;
  return std::string(text.substr(0, end)) + "...";
}

template <class Number>
Number number_in(std::string_view text, Number lowest, Number highest, const char* what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= lowest) ||
      !(value <= highest)) {
    throw MelodyError("\"" + shortened(text) + "\" is not " + what);
  }
  return value;
}

/// Which note each event is, or would be.
std::vector<std::uint32_t> add_events(std::string_view events, Melody& melody) {
  std::vector<std::uint32_t> note_of_event;
  double time_s = 0;
  while (!events.empty()) {
    const std::string_view event = cut(events, ' ');
    if (event.empty()) continue;
    const std::size_t colon = event.find(':');
    if (colon == std::string_view::npos) {
      throw MelodyError("event \"" + shortened(event) + "\" has no length (PITCH:QUARTERS)");
    }
    const double quarters = number_in(event.substr(colon + 1), 0.0, kLongestQuarters,
                                      "a length in quarters, above 0 and at most 1024");
    if (quarters <= 0) throw MelodyError("event \"" + shortened(event) + "\" has no length");
    const double duration_s = quarters * kSecondsPerQuarter;
    note_of_event.push_back(static_cast<std::uint32_t>(melody.notes.size()));
    const std::string_view pitch = event.substr(0, colon);
    if (pitch != "r") {
      const double semitones = number_in(pitch, 0.0, kHighestPitch, "a MIDI note, 0 to 127, or r");
      melody.notes.push_back({static_cast<float>(time_s), static_cast<float>(duration_s),
                              static_cast<float>(semitones)});
    }
    time_s += duration_s;
  }
  return note_of_event;
}

void add_phrases(std::string_view phrases, const std::vector<std::uint32_t>& note_of_event,
                 Melody& melody) {
  while (!phrases.empty()) {
    const std::string_view text = cut(phrases, ',');
    const auto event = number_in<std::size_t>(text, 0, note_of_event.size() - 1,
                                              "the number of an event at which a phrase starts");
    const std::uint32_t note = note_of_event[event];
    if (note >= melody.notes.size()) continue;  // nothing but rests follow
    if (!melody.phrases.empty() && note < melody.phrases.back()) {
      throw MelodyError("phrase start " + shortened(text) + " comes before the one before it");
    }
    if (melody.phrases.empty() || note > melody.phrases.back()) melody.phrases.push_back(note);
  }
}

}  // namespace

bool next_notes_line(std::istream& in, std::string& line, std::size_t& number) {
  while (std::getline(in, line)) {
    ++number;
    if (number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && line.front() != '#') return true;
  }
  return false;
}

NamedMelody parse_notes_line(std::string_view line) {
  NamedMelody named;
  named.id = cut(line, '\t');
  if (named.id.empty()) throw MelodyError("no id before the first tab");
  const auto note_of_event = add_events(cut(line, '\t'), named.melody);
  if (named.melody.notes.empty()) throw MelodyError(shortened(named.id) + " has no notes");
  add_phrases(cut(line, '\t'), note_of_event, named.melody);
  return named;
}

std::vector<NamedMelody> read_notes(std::istream& in, const std::string& name) {
  std::vector<NamedMelody> melodies;
  std::string line;
  for (std::size_t number = 0; next_notes_line(in, line, number);) {
    try {
      melodies.push_back(parse_notes_line(line));
    } catch (const MelodyError& error) {
      throw MelodyError(name + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (in.bad()) throw MelodyError(name + ": cannot be read to its end");
  return melodies;
}

std::vector<NamedMelody> read_notes_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw MelodyError(path + ": " + std::generic_category().message(errno));
  return read_notes(in, path);
}

}  // namespace spintag::fingerprint
