// daemon/ingest/tags.cpp - what a file's own tags say about a recording.
#include "daemon/ingest/tags.h"

#include <taglib/fileref.h>
#include <taglib/tpropertymap.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "daemon/ingest/identifiers.h"
#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

// Tag -> key in extra_json, for what has no column of its own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kExtra{{
    {"ALBUMARTIST", "album_artist"},
    {"BPM", "bpm"},
    {"CATALOGNUMBER", "catalog_number"},
    {"DATE", "date"},
    {"DISCNUMBER", "disc_number"},
    {"GENRE", "genre"},
    {"LANGUAGE", "language"},
    {"MUSICBRAINZ_ALBUMID", "musicbrainz_release_id"},
    {"MUSICBRAINZ_ARTISTID", "musicbrainz_artist_id"},
    {"TRACKNUMBER", "track_number"},
}};

std::string joined(const TagMap& tags, std::string_view name) {
  const auto found = tags.find(std::string(name));
  if (found == tags.end()) return {};
  std::string out;
  for (const std::string& raw : found->second) {
    const std::string value = tidy(raw);
    if (value.empty()) continue;
    if (!out.empty()) out += "; ";
    out += value;
  }
  return out;
}

std::vector<std::string> isrcs_of(const TagMap& tags) {
  std::vector<std::string> isrcs;
  const auto found = tags.find("ISRC");
  if (found == tags.end()) return isrcs;
  for (const std::string& value : found->second) {
    for (std::string& isrc : normal_isrcs(value).value_or(std::vector<std::string>{})) {
      if (std::find(isrcs.begin(), isrcs.end(), isrc) == isrcs.end()) {
        isrcs.push_back(std::move(isrc));
      }
    }
  }
  return isrcs;
}

}  // namespace

TagMap read_tags(const std::filesystem::path& file) {
  constexpr bool kWithAudioProperties = false;
  const TagLib::FileRef reference(file.c_str(), kWithAudioProperties);
  TagMap tags;
  if (reference.isNull()) return tags;
  for (const auto& [name, values] : reference.file()->properties()) {
    std::vector<std::string>& list = tags[name.upper().to8Bit(true)];
    for (const TagLib::String& value : values) list.push_back(value.to8Bit(true));
  }
  return tags;
}

db::TrackInfo describe(const TagMap& tags, const std::string& stem) {
  db::TrackInfo info;
  info.title = joined(tags, "TITLE");
  if (info.title.empty()) info.title = stem;
  info.artist = joined(tags, "ARTIST");
  info.album = joined(tags, "ALBUM");
  for (const std::string_view name : {"LABEL", "PUBLISHER", "ORGANIZATION"}) {
    if (info.label.empty()) info.label = joined(tags, name);
  }
  info.composer = joined(tags, "COMPOSER");
  info.isrcs = isrcs_of(tags);
  // MusicBrainz Picard writes the recording's id under this older name.
  info.recording_mbid = normal_mbid(joined(tags, "MUSICBRAINZ_TRACKID")).value_or("");
  nlohmann::json extra = nlohmann::json::object();
  for (const auto& [name, key] : kExtra) {
    if (std::string value = joined(tags, name); !value.empty()) extra[std::string(key)] = value;
  }
  info.extra_json = extra.dump();
  return info;
}

}  // namespace spintag::daemon
