// daemon/catalogue_file.cpp - the catalogue in files: NDJSON to import elsewhere, index snapshots.
#include "daemon/catalogue_file.h"

#include <openssl/evp.h>

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "daemon/json_text.h"
#include "daemon/rfc3339.h"
#include "daemon/utf8.h"
#include "fingerprint/index.h"
#include "fingerprint/melody/packed_melody.h"
#include "fingerprint/profile.h"
#include "fingerprint/reference.h"

namespace spintag::daemon {

namespace {

using fingerprint::BroadcastProfile;
using Json = nlohmann::ordered_json;

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP adds a NUL
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::vector<std::byte> from_base64(const std::string& text) {
  std::vector<std::byte> bytes(text.size() / 4 * 3);
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0) throw std::invalid_argument("packed: not base64");
  std::size_t padding = 0;  // EVP counts what '=' stands for as bytes
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(length) - padding);
  return bytes;
}

std::map<std::int64_t, db::Track> all_tracks(db::Store& store) {
  std::map<std::int64_t, db::Track> tracks;
  store.for_each_track([&](const db::Track& track) { tracks.emplace(track.track_id, track); });
  return tracks;
}

// Of each track that has any, as a line of an export has them.
std::map<std::int64_t, Json> all_melodies(db::Store& store) {
  std::map<std::int64_t, Json> melodies;
  store.for_each_melodies([&](db::Melodies&& row) {
    melodies[row.track_id].push_back({{"method", row.method},
                                      {"method_version", row.method_version},
                                      {"packed", to_base64(row.packed)}});
  });
  return melodies;
}

Json export_line(const db::Track& track) {
  Json line = track_to_json(track);
  line["duration_s"] = track.duration_s;  // to the last sample, unlike for people
  line["source_size"] = track.source_size;
  line["source_mtime_ns"] = track.source_mtime_ns;
  return line;
}

std::string snapshot_metadata(const db::Track& track) {
  return json_text({{"source", to_utf8(track.source)},
                    {"title", track.info.title},
                    {"artist", track.info.artist},
                    {"album", track.info.album},
                    {"label", track.info.label},
                    {"isrc", track.info.isrcs},
                    {"recording_mbid", track.info.recording_mbid}});
}

// A line of an export, as it is stored; `track` shows the rest.
struct ImportLine {
  db::NewTrack track;
  std::vector<std::byte> packed;
  std::vector<std::vector<std::byte>> packed_melodies;
  std::vector<db::NewMelodies> melodies;
  std::vector<std::string> unread;  ///< why some of its melodies are left out
};

// @throws std::exception that says what is wrong
void parse_fingerprint(const Json& json, ImportLine& line) {
  line.track.profile = json.at("profile").get<std::string>();
  line.track.profile_version = json.at("profile_version").get<int>();
  if (line.track.profile != BroadcastProfile::name ||
      line.track.profile_version != BroadcastProfile::version) {
    throw std::invalid_argument("fingerprint of profile " + line.track.profile + " version " +
                                std::to_string(line.track.profile_version) + ", this spintag has " +
                                std::string(BroadcastProfile::name) + " version " +
                                std::to_string(BroadcastProfile::version));
  }
  line.packed = from_base64(json.at("packed").get<std::string>());
  line.track.landmarks = static_cast<std::int64_t>(fingerprint::count_landmarks(line.packed));
  if (line.track.landmarks == 0) throw std::invalid_argument("packed holds nothing");
}

// Those of another version are left out: the recording may come without them.
// @throws std::exception that says what is wrong
void parse_melodies(const Json& json, ImportLine& line) {
  for (const Json& row : json) {
    db::NewMelodies melodies;
    melodies.method = row.at("method").get<std::string>();
    melodies.method_version = row.at("method_version").get<int>();
    const std::string which = "its melody (" + melodies.method + ") is ";
    if (melodies.method_version != fingerprint::kPackedMelodyVersion) {
      line.unread.push_back(which + "of version " + std::to_string(melodies.method_version) +
                            ", this spintag reads " +
                            std::to_string(fingerprint::kPackedMelodyVersion));
      continue;
    }
    auto packed = from_base64(row.at("packed").get<std::string>());
    try {
      fingerprint::unpack_melodies(packed);
    } catch (const fingerprint::MelodyError& error) {
      throw std::invalid_argument(which + error.what());
    }
    line.packed_melodies.push_back(std::move(packed));
    line.melodies.push_back(std::move(melodies));
  }
}

// @throws std::exception that says which key is missing or wrong
ImportLine parse_line(const std::string& text) {
  const Json json = Json::parse(text);
  ImportLine line;
  line.track.info.title = json.at("title").get<std::string>();
  line.track.info.artist = json.at("artist").get<std::string>();
  line.track.info.album = json.value("album", "");
  line.track.info.label = json.value("label", "");
  line.track.info.composer = json.value("composer", "");
  line.track.info.isrcs = json.value("isrc", std::vector<std::string>{});
  line.track.info.recording_mbid = json.value("recording_mbid", "");
  line.track.info.extra_json = json.value("extra", Json::object()).dump();
  line.track.source = json.at("source").get<std::string>();
  line.track.content_hash = json.at("content_hash").get<std::string>();
  line.track.source_size = json.value("source_size", std::int64_t{0});
  line.track.source_mtime_ns = json.value("source_mtime_ns", std::int64_t{0});
  line.track.duration_s = json.at("duration_s").get<double>();
  if (json.contains("melodies")) parse_melodies(json["melodies"], line);
  const bool has_recording = json.contains("profile");
  if (line.melodies.empty() && !has_recording && !line.unread.empty()) {
    throw std::invalid_argument(line.unread.front());
  }
  if (line.melodies.empty() || has_recording) parse_fingerprint(json, line);
  if (line.track.content_hash.empty() || !(line.track.duration_s > 0)) {
    throw std::invalid_argument("content_hash or duration_s holds nothing");
  }
  return line;
}

// @return what of the line is left out, and why
std::vector<std::string> import_line(db::Store& store, const std::string& text,
                                     ImportCounts& counts) {
  ImportLine line = parse_line(text);
  line.track.packed = line.packed;
  for (std::size_t i = 0; i < line.melodies.size(); ++i) {
    line.melodies[i].packed = line.packed_melodies[i];
  }
  line.track.melodies = line.melodies;
  const auto same_source = store.find_by_source(line.track.source);
  if (same_source && same_source->content_hash != line.track.content_hash) {
    throw std::invalid_argument(line.track.source + " is another recording here (track " +
                                std::to_string(same_source->track_id) + "): not replaced");
  }
  const db::PutResult put = store.put_track(line.track);
  ++(put.what == db::PutResult::What::already_there ? counts.already_there : counts.added);
  return std::move(line.unread);
}

}  // namespace

Json track_to_json(const db::Track& track) {
  Json extra = Json::parse(track.info.extra_json, nullptr, false);
  if (!extra.is_object()) extra = Json::object();
  return {{"track_id", track.track_id},
          {"source", to_utf8(track.source)},
          {"title", track.info.title},
          {"artist", track.info.artist},
          {"album", track.info.album},
          {"label", track.info.label},
          {"composer", track.info.composer},
          {"isrc", track.info.isrcs},
          {"recording_mbid", track.info.recording_mbid},
          {"duration_s", round_to_ms(track.duration_s)},
          {"landmarks", track.landmarks},
          {"content_hash", track.content_hash},
          {"ingested_at", to_rfc3339(track.ingested_at)},
          {"extra", std::move(extra)}};
}

std::size_t export_tracks(db::Store& store, std::ostream& out) {
  std::size_t count = 0;
  store.with_snapshot([&] {
    auto tracks = all_tracks(store);
    auto melodies = all_melodies(store);
    const auto write = [&](const db::Track& track, const db::Fingerprint* print) {
      Json line = export_line(track);
      if (print != nullptr) {
        line["profile"] = BroadcastProfile::name;
        line["profile_version"] = BroadcastProfile::version;
        line["packed"] = to_base64(print->packed);
      }
      const auto found = melodies.find(track.track_id);
      if (found != melodies.end()) line["melodies"] = std::move(found->second);
      out << json_text(line) << "\n";
      ++count;
    };
    store.for_each_fingerprint(std::string(BroadcastProfile::name), BroadcastProfile::version,
                               [&](db::Fingerprint&& print) {
                                 const auto track = tracks.find(print.track_id);
                                 if (track == tracks.end()) return;  // nobody's
                                 write(track->second, &print);
                                 tracks.erase(track);
                               });
    for (const auto& [track_id, track] : tracks) {  // those without a recording
      if (melodies.contains(track_id)) write(track, nullptr);
    }
  });
  return count;
}

std::size_t export_index(db::Store& store, const std::filesystem::path& file) {
  std::vector<db::Fingerprint> prints;
  std::vector<fingerprint::IndexTrack> entries;
  std::int64_t change = 0;
  store.with_snapshot([&] {
    const auto tracks = all_tracks(store);
    store.for_each_fingerprint(
        std::string(BroadcastProfile::name), BroadcastProfile::version,
        [&](db::Fingerprint&& print) { prints.push_back(std::move(print)); });
    change = store.newest_change();
    for (const db::Fingerprint& print : prints) {
      entries.push_back({print.track_id, print.duration_s, print.packed,
                         snapshot_metadata(tracks.at(print.track_id))});
    }
  });
  fingerprint::Index::build(entries)->save(file, change);
  return entries.size();
}

ImportCounts import_tracks(db::Store& store, std::istream& in,
                           const std::function<void(std::size_t, const std::string&)>& on_fault) {
  ImportCounts counts;
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      for (const std::string& unread : import_line(store, text, counts)) {
        on_fault(number, unread + ": left out");
      }
    } catch (const db::StoreError& error) {
      if (error.kind() != db::StoreError::Kind::refused) throw;
      ++counts.failed;
      on_fault(number, error.what());
    } catch (const std::exception& error) {
      ++counts.failed;
      on_fault(number, error.what());
    }
  }
  return counts;
}

}  // namespace spintag::daemon
