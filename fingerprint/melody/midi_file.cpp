// fingerprint/melody/midi_file.cpp - Standard MIDI Files: who plays which notes when, in seconds.
#include "fingerprint/melody/midi_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "fingerprint/melody/midi_track.h"

namespace spintag::fingerprint {

namespace {

/// Seconds of ticks.
class Clock {
 public:
  Clock() = default;
  /// @param division  as the header has it
  /// @param bytes     just read, for errors
  Clock(int division, const MidiBytes& bytes) {
    if ((division & 0x8000) == 0) {
      ticks_per_quarter_ = division;
      if (division == 0) bytes.fail("a quarter of 0 ticks", 2);
      return;
    }
    const int frames_per_s = 256 - (division >> 8);  // the upper byte is minus the frame rate
    const int ticks_per_frame = division & 0xFF;
    if (frames_per_s != 24 && frames_per_s != 25 && frames_per_s != 29 && frames_per_s != 30) {
      bytes.fail("SMPTE time of " + std::to_string(frames_per_s) + " frames a second is not known",
                 2);
    }
    if (ticks_per_frame == 0) bytes.fail("a frame of 0 ticks", 2);
    // 29 stands for drop frame: 30 frames of 1001/30000 s, whatever numbers they get.
    const double rate = frames_per_s == 29 ? 30000.0 / 1001.0 : frames_per_s;
    smpte_tick_s_ = 1 / (rate * ticks_per_frame);
  }

  void set(std::vector<MidiTempo> tempos) {
    std::stable_sort(tempos.begin(), tempos.end(),
                     [](const MidiTempo& a, const MidiTempo& b) { return a.tick < b.tick; });
    changes_ = {{0, 0.0, tick_s(kDefaultTempo)}};
    for (const MidiTempo& tempo : tempos) {
      changes_.push_back({tempo.tick, seconds(tempo.tick), tick_s(tempo.us_per_quarter)});
    }
  }

  double seconds(std::uint64_t tick) const {
    if (smpte_tick_s_ > 0) return static_cast<double>(tick) * smpte_tick_s_;
    const auto after =
        std::upper_bound(changes_.begin(), changes_.end(), tick,
                         [](std::uint64_t at, const Change& change) { return at < change.tick; });
    const Change& change = *(after - 1);
    return change.at_s + static_cast<double>(tick - change.tick) * change.tick_s;
  }

 private:
  static constexpr std::uint32_t kDefaultTempo = 500'000;  // 120 quarters a minute

  struct Change {
    std::uint64_t tick;
    double at_s;
    double tick_s;  ///< from there on
  };

  double tick_s(std::uint32_t us_per_quarter) const {
    return us_per_quarter * 1e-6 / ticks_per_quarter_;
  }

  int ticks_per_quarter_ = 1;
  double smpte_tick_s_ = 0;  ///< 0 = metrical time
  std::vector<Change> changes_ = {{0, 0.0, 0.0}};
};

struct Header {
  int format = 0;
  std::size_t tracks = 0;
  Clock clock;
};

Header read_header(MidiBytes& bytes) {
  if (bytes.rest() >= 20 && bytes.text(4) == "RIFF") {  // RMID: a Windows wrapper of one chunk
    bytes.skip(4);
    if (bytes.text(4) != "RMID") bytes.fail("a RIFF file, but not one of MIDI");
    bytes.skip(8);
  } else {
    bytes.rewind();
  }
  if (bytes.rest() < 14 || bytes.text(4) != "MThd") {
    bytes.rewind();
    bytes.fail("not a Standard MIDI File (it does not begin with MThd)");
  }
  const std::size_t length = bytes.number(4);
  if (length < 6) bytes.fail("a header of " + std::to_string(length) + " bytes instead of 6", 4);
  Header header;
  header.format = static_cast<int>(bytes.number(2));
  if (header.format > 2) bytes.fail("format " + std::to_string(header.format) + " is not known", 2);
  header.tracks = bytes.number(2);
  header.clock = Clock(static_cast<int>(bytes.number(2)), bytes);
  bytes.skip(length - 6);
  return header;
}

/// Turns the track's notes into voices that begin at `start_s`.
void add_voices(MidiSong& song, std::size_t number, const MidiTrack& track, const Clock& clock,
                double start_s) {
  std::map<int, MidiVoice> voices;
  for (const MidiKey& key : track.keys) {
    MidiVoice& voice = voices[key.channel];
    const double onset_s = start_s + clock.seconds(key.down);
    const double end_s = start_s + clock.seconds(key.up);
    voice.notes.push_back({onset_s, end_s - onset_s, key.pitch, key.velocity});
    song.length_s = std::max(song.length_s, end_s);
  }
  for (auto& [channel, voice] : voices) {
    voice.name = track.name;
    voice.track = number;
    voice.channel = channel;
    voice.drums = channel == 9;
    std::stable_sort(voice.notes.begin(), voice.notes.end(),
                     [](const MidiNote& a, const MidiNote& b) {
                       return std::pair(a.onset_s, a.pitch) < std::pair(b.onset_s, b.pitch);
                     });
    song.voices.push_back(std::move(voice));
  }
}

std::vector<MidiTrack> read_tracks(MidiBytes& bytes, std::size_t count) {
  std::vector<MidiTrack> tracks;
  while (tracks.size() < count) {
    const std::string which =
        "track " + std::to_string(tracks.size() + 1) + " of " + std::to_string(count);
    if (bytes.rest() < 8) bytes.fail("the file ends before " + which);
    const std::string_view kind = bytes.text(4);
    const std::size_t length = bytes.number(4);
    if (length > bytes.rest()) {
      bytes.fail(which + " should have " + std::to_string(length) + " bytes, the file has " +
                     std::to_string(bytes.rest()) + " more",
                 4);
    }
    MidiBytes chunk = bytes.cut(length);
    if (kind == "MTrk") tracks.push_back(read_midi_track(chunk));  // others are to be ignored
  }
  return tracks;
}

}  // namespace

MidiSong read_midi(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() > kLargestMidiFile) {
    throw MelodyError(name + ": " + std::to_string(bytes.size()) +
                      " bytes are too many for a song");
  }
  MidiBytes file(bytes, name);
  Header header = read_header(file);
  Clock& clock = header.clock;
  const std::vector<MidiTrack> tracks = read_tracks(file, header.tracks);

  MidiSong song;
  if (!tracks.empty()) song.title = tracks.front().name;
  const bool patterns = header.format == 2;  // each with its own time
  if (!patterns) {
    std::vector<MidiTempo> tempos;
    for (const MidiTrack& track : tracks) {
      tempos.insert(tempos.end(), track.tempos.begin(), track.tempos.end());
    }
    clock.set(std::move(tempos));
  }
  double start_s = 0;
  for (std::size_t number = 0; number < tracks.size(); ++number) {
    if (patterns) clock.set(tracks[number].tempos);
    add_voices(song, number, tracks[number], clock, start_s);
    if (patterns) start_s += clock.seconds(tracks[number].end);
  }
  if (song.voices.empty()) throw MelodyError(name + ": there is no note in it");
  if (!(song.length_s <= kLongestMidiSong_s)) {
    throw MelodyError(name + ": it lasts " + std::to_string(song.length_s) +
                      " s, which is too long for a song");
  }
  return song;
}

MidiSong read_midi_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw MelodyError(path + ": " + std::generic_category().message(errno));
  std::vector<char> bytes(kLargestMidiFile + 1);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad()) throw MelodyError(path + ": cannot be read to its end");
  return read_midi(std::as_bytes(std::span(bytes).first(static_cast<std::size_t>(in.gcount()))),
                   path);
}

}  // namespace spintag::fingerprint
