// daemon/ingest/tags.h - what a file's own tags say about a recording.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "db/store.h"

namespace spintag::daemon {

/// Tag names in upper case as TagLib unifies them over ID3v2, Vorbis comments, MP4 and APE: TITLE,
/// ARTIST, ISRC, ...
using TagMap = std::map<std::string, std::vector<std::string>>;

/// @return empty if the file has no tags, or none that can be read: tags never keep a recording out
TagMap read_tags(const std::filesystem::path& file);

/// Several values of one tag are joined with "; ". Without a title, the title is `stem`. ISRCs and
/// MusicBrainz ids that are not well formed are left out. Date, genre, album artist and numbers go
/// to extra_json.
db::TrackInfo describe(const TagMap& tags, const std::string& stem);

}  // namespace spintag::daemon
