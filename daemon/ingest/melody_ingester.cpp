// daemon/ingest/melody_ingester.cpp - written music into the catalogue: MIDI files, .notes files.
#include "daemon/ingest/melody_ingester.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "daemon/utf8.h"
#include "fingerprint/audio/stream_title.h"
#include "fingerprint/melody/main_melody.h"
#include "fingerprint/melody/midi_file.h"
#include "fingerprint/melody/notes_file.h"
#include "fingerprint/melody/packed_melody.h"

namespace spintag::daemon {

namespace {

using fingerprint::Melody;
using fingerprint::MelodyError;

// Each holds two of the server's locks until the commit. Our private cluster has some 3,200 for all
// its clients, and every worker has a batch of its own: 32 workers leave some over.
constexpr std::size_t kTunesAtOnce = 40;

// A line is some hundred bytes: what is larger is no list of tunes.
constexpr std::uint64_t kLargestNotesFile = 64 << 20;
constexpr std::size_t kIdColumns = 40;  // of an id in a message

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string extension_of(const std::string& file) {
  return lower_case(std::filesystem::path(file).extension().string());
}

/// SHA-256 in hex. The kind keeps apart what has the same bytes by chance.
std::string hash_of(std::string_view kind, std::string_view content) {
  std::array<unsigned char, 32> digest{};
  const std::string bytes = std::string(kind) + '\n' + std::string(content);
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 0xF];
  }
  return hex;
}

std::string read_all(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  if (in) bytes << in.rdbuf();
  if (!in || !bytes) throw Refused(std::strerror(errno));
  return std::move(bytes).str();
}

/// Reports name the source already.
std::string without_prefix(std::string message, const std::string& prefix) {
  if (message.starts_with(prefix)) message.erase(0, prefix.size());
  return to_utf8(message);
}

/// What sequencers call a song that nobody gave a name.
bool is_no_title(const std::string& title) {
  const std::string text = lower_case(title);
  if (text.empty() || text == "untitled") return true;
  return text.starts_with("track") &&
         text.find_first_not_of(" 0123456789", std::strlen("track")) == std::string::npos;
}

std::string title_of(const fingerprint::MidiSong& song, const std::string& file) {
  const std::string title = fingerprint::clean_text(song.title);
  return is_no_title(title) ? tidy(std::filesystem::path(file).stem().string()) : title;
}

FileReport report_of(const db::NewTrack& track, const db::PutResult& put) {
  FileReport report;
  report.source = to_utf8(track.source);
  report.track_id = put.track_id;
  report.duration_s = track.duration_s;
  report.landmarks = 0;
  report.what = FileReport::What::ingested;
  if (put.what == db::PutResult::What::already_there) {
    report.what = FileReport::What::skipped;
    report.reason = put.source == track.source ? "already in the catalogue"
                                               : "the same tune as " + to_utf8(put.source);
  } else if (put.what == db::PutResult::What::replaced && put.source.empty()) {
    report.reason = "took the place of what was there before";
  }
  return report;
}

FileReport failed(const std::string& source, const std::string& reason) {
  FileReport report;
  report.source = to_utf8(source);
  report.reason = reason;
  return report;
}

/// A damaged row is as good as none: the file mends it.
bool is_whole(std::span<const std::byte> packed) {
  try {
    return !fingerprint::unpack_melodies(packed).empty();
  } catch (const MelodyError&) {
    return false;
  }
}

}  // namespace

/// A track with what its spans show; it must not move once they do.
struct MelodyIngester::Tune {
  db::NewTrack track;
  std::vector<std::byte> packed;
  std::array<db::NewMelodies, 1> melodies;

  void hold(const Melody& melody, const char* method) {
    packed = fingerprint::pack_melodies({&melody, 1});
    melodies[0].method = method;
    melodies[0].method_version = fingerprint::kPackedMelodyVersion;
    if (track.duration_s <= 0) track.duration_s = melody.length_s();
  }
  const db::NewTrack& shown() {
    melodies[0].packed = packed;
    track.melodies = melodies;
    return track;
  }
};

bool is_melody_file(const std::string& file) {
  const std::string extension = extension_of(file);
  return extension == ".mid" || extension == ".midi" || extension == ".notes";
}

MelodyIngester::MelodyIngester(const StoreSite& site, const MetadataSidecar* sidecar,
                               std::stop_token stop)
    : sidecar_(sidecar), stop_(stop), patiently_(site, stop) {}

bool MelodyIngester::ingest(const std::string& file, const Tell& tell) {
  try {
    if (extension_of(file) == ".notes") {
      ingest_notes(file, tell);
    } else {
      tell(ingest_midi(file));
    }
  } catch (const Stopped&) {
    return false;
  } catch (const Refused& refused) {
    tell(failed(file, refused.what()));
  } catch (const MelodyError& error) {
    tell(failed(file, without_prefix(error.what(), file + ": ")));
  } catch (const db::StoreError& error) {
    if (error.kind() != db::StoreError::Kind::refused) throw;
    tell(failed(file, error.what()));
  }
  return true;
}

bool MelodyIngester::has_melodies(std::int64_t track_id) {
  const auto stored = patiently_([&](db::Store& store) { return store.melodies({&track_id, 1}); });
  return std::ranges::any_of(stored, [](const db::Melodies& melodies) {
    return melodies.method == fingerprint::kMelodyFromMidi &&
           melodies.method_version == fingerprint::kPackedMelodyVersion &&
           is_whole(melodies.packed);
  });
}

FileReport MelodyIngester::ingest_midi(const std::string& file) {
  Tune tune{track_of_file(file), {}, {}};
  if (static_cast<std::uint64_t>(tune.track.source_size) > fingerprint::kLargestMidiFile) {
    throw Refused("too large for a MIDI file");
  }
  const auto known = patiently_([&](db::Store& store) { return store.find_by_source(file); });
  if (is_unchanged(known, tune.track) && has_melodies(known->track_id)) {
    return skip_known(patiently_, sidecar_, *known, file, "already in the catalogue");
  }
  const std::string bytes = read_all(file);
  const fingerprint::MidiSong song = fingerprint::read_midi(std::as_bytes(std::span(bytes)), file);
  tune.track.content_hash = hash_of("spintag midi", bytes);
  tune.track.info.title = title_of(song, file);
  tune.track.duration_s = song.length_s;
  if (sidecar_ != nullptr) sidecar_->apply(file, tune.track.info);
  tune.hold(fingerprint::main_melody(song), fingerprint::kMelodyFromMidi);
  const db::PutResult put =
      patiently_([&](db::Store& store) { return store.put_track(tune.shown()); });
  if (put.what == db::PutResult::What::already_there && put.source == file) {  // it was touched
    const auto track = patiently_([&](db::Store& store) { return store.find_track(put.track_id); });
    if (track) return skip_known(patiently_, sidecar_, *track, file, "already in the catalogue");
  }
  return report_of(tune.track, put);
}

void MelodyIngester::ingest_notes(const std::string& file, const Tell& tell) {
  const db::NewTrack about = track_of_file(file);
  if (static_cast<std::uint64_t>(about.source_size) > kLargestNotesFile) {
    throw Refused("too large for a .notes file");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Refused(std::strerror(errno));
  std::unordered_map<std::string, std::size_t> line_of_id;
  std::vector<Tune> tunes;
  std::string line;
  bool any = false;
  for (std::size_t number = 0; fingerprint::next_notes_line(in, line, number);) {
    if (stop_.stop_requested()) throw Stopped{};
    if (!any && line.find('\t') == std::string::npos) {  // rather than say so of every line
      throw Refused("not a .notes file: line " + std::to_string(number) + " has no tab");
    }
    any = true;
    try {
      const fingerprint::NamedMelody named = fingerprint::parse_notes_line(line);
      const auto [first, is_new] = line_of_id.emplace(named.id, number);
      if (!is_new) {
        throw MelodyError("the id " + fit(to_utf8(named.id), kIdColumns) + " is that of line " +
                          std::to_string(first->second));
      }
      Tune tune{about, {}, {}};
      tune.track.source = file + "#" + named.id;
      tune.track.content_hash = hash_of("spintag notes", line);
      tune.track.info.title = tidy(named.id);
      tune.hold(named.melody, fingerprint::kMelodyFromNotes);
      tunes.push_back(std::move(tune));
    } catch (const MelodyError& error) {
      put(tunes, tell);  // so that reports keep the order of the file
      tell(failed(file + ":" + std::to_string(number), to_utf8(error.what())));
    }
    if (tunes.size() == kTunesAtOnce) put(tunes, tell);
  }
  if (in.bad()) throw Refused(std::strerror(errno));
  put(tunes, tell);
  if (!any) throw Refused("no tune in it");
}

void MelodyIngester::put(std::vector<Tune>& tunes, const Tell& tell) {
  std::vector<db::NewTrack> tracks;
  for (Tune& tune : tunes) tracks.push_back(tune.shown());
  if (tracks.empty()) return;
  try {
    const auto results = patiently_([&](db::Store& store) { return store.put_tracks(tracks); });
    for (std::size_t i = 0; i < tracks.size(); ++i) tell(report_of(tracks[i], results[i]));
  } catch (const db::StoreError& error) {
    if (error.kind() != db::StoreError::Kind::refused) throw;
    for (const db::NewTrack& track : tracks) tell(put_alone(track));  // one of them spoilt it
  }
  tunes.clear();
}

FileReport MelodyIngester::put_alone(const db::NewTrack& track) {
  try {
    return report_of(track, patiently_([&](db::Store& store) { return store.put_track(track); }));
  } catch (const db::StoreError& error) {
    if (error.kind() != db::StoreError::Kind::refused) throw;
    return failed(track.source, error.what());
  }
}

}  // namespace spintag::daemon
