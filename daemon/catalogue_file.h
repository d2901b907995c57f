// daemon/catalogue_file.h - the catalogue in files: NDJSON to import elsewhere, index snapshots.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <istream>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include "db/store.h"

namespace spintag::daemon {

/// One track as `catalog list`, `show` and `export` give it:
/// {"track_id","source","title","artist","album","label",
/// "composer","isrc":[],"recording_mbid","duration_s","landmarks","content_hash","ingested_at","extra":{}}.
nlohmann::ordered_json track_to_json(const db::Track& track);

/// One line a track: track_to_json() and "source_size", "source_mtime_ns"; of a recording
/// "profile", "profile_version" and "packed" (the fingerprint in base64); of a track with melodies
/// "melodies", a list of {"method","method_version","packed"}. One snapshot of the store. @return
/// number of tracks
std::size_t export_tracks(db::Store& store, std::ostream& out);

/// Writes an index snapshot whose metadata are JSON objects with source, title, artist, album,
/// label, isrc and recording_mbid. @return number of tracks  @throws fingerprint::IndexError
std::size_t export_index(db::Store& store, const std::filesystem::path& file);

struct ImportCounts {
  std::size_t added = 0;
  std::size_t already_there = 0;
  std::size_t failed = 0;
};

/// Reads what export_tracks() wrote. A track whose recording is there already is left as it is, but
/// for the fingerprint that it lacks and melodies that differ; one whose source names another
/// recording here is refused. Each track is one transaction.
/// @param on_fault  line number and what is wrong, for every line that could not be taken, and
/// for every melody of another version, without which its line was taken
/// @throws db::StoreError(unreachable)
ImportCounts import_tracks(db::Store& store, std::istream& in,
                           const std::function<void(std::size_t, const std::string&)>& on_fault);

}  // namespace spintag::daemon
