// db/put_tracks.cpp - tracks with all that belongs to them, put whole or not at all.
#include <string>
#include <unordered_map>
#include <vector>

#include "db/store_state.h"

namespace spintag::db {

namespace {

/// Two ingests of one recording, or of one path, go one after the other: see 0001_initial.sql for
/// why no constraint does it. Always in this order, each in the order of the locks' own numbers,
/// and before the lock of the change log, so that no two wait for each other.
void lock_contents_and_sources(Connection& connection, std::span<const NewTrack> tracks) {
  const auto lock = [&](const char* space, const std::vector<std::string>& names) {
    connection.query(
        "select pg_advisory_xact_lock(hashtext($1), number) from"
        " (select distinct hashtext(unnest($2::text[])) as number order by number) as numbers",
        {space, format_text_array(names)});
  };
  std::vector<std::string> contents;
  std::vector<std::string> sources;
  for (const NewTrack& track : tracks) {
    contents.push_back(clean_utf8(track.content_hash));
    sources.push_back(encode_path(track.source));
  }
  lock("spintag content", contents);
  lock("spintag source", sources);
}

void put_fingerprint(Connection& connection, std::int64_t track_id, const NewTrack& track) {
  connection.query(
      "insert into fingerprints (track_id, profile, profile_version, duration_s, packed)"
      " values ($1, $2, $3, $4, $5) on conflict (track_id, profile) do update"
      " set profile_version = excluded.profile_version, duration_s = excluded.duration_s,"
      " packed = excluded.packed",
      {track_id, track.profile, track.profile_version, track.duration_s,
       format_bytea(track.packed)});
}

bool has_fingerprint(Connection& connection, std::int64_t track_id, const NewTrack& track) {
  return !connection
              .query(
                  "select 1 from fingerprints where track_id = $1 and profile = $2"
                  " and profile_version = $3",
                  {track_id, track.profile, track.profile_version})
              .empty();
}

std::int64_t add(Connection& connection, const NewTrack& track) {
  const TrackInfo& info = track.info;
  return connection
      .query(
          "insert into tracks (track_id, content_hash, source, source_size, source_mtime_ns,"
          " duration_s, landmarks, title, artist, album, label, composer, isrcs, recording_mbid, "
          "extra)"
          " values (nextval('track_ids'), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
          "$14)"
          " returning track_id",
          {track.content_hash, encode_path(track.source), track.source_size, track.source_mtime_ns,
           track.duration_s, track.landmarks, info.title, info.artist, info.album, info.label,
           info.composer, format_text_array(info.isrcs), info.recording_mbid, info.extra_json})
      .integer(0, 0);
}

/// Other audio at the path of `track_id`: nothing that was made from the old audio stays, its tags
/// included.
void replace(Connection& connection, std::int64_t track_id, const NewTrack& track) {
  const TrackInfo& info = track.info;
  for (const char* table : {"fingerprints", "melodies", "signatures"}) {
    connection.query(std::string("delete from ") + table + " where track_id = $1", {track_id});
  }
  connection.query(
      "update tracks set content_hash = $2, source_size = $3, source_mtime_ns = $4, duration_s = "
      "$5,"
      " landmarks = $6, title = $7, artist = $8, album = $9, label = $10, composer = $11, isrcs = "
      "$12,"
      " recording_mbid = $13, extra = $14, ingested_at = now() where track_id = $1",
      {track_id, track.content_hash, track.source_size, track.source_mtime_ns, track.duration_s,
       track.landmarks, info.title, info.artist, info.album, info.label, info.composer,
       format_text_array(info.isrcs), info.recording_mbid, info.extra_json});
}

/// The tracks that have the content or the source of those to put; later puts see earlier ones.
class KnownTracks {
 public:
  struct Known {
    std::int64_t track_id = 0;
    std::string content_hash;
    std::string source;
  };

  KnownTracks(Connection& connection, std::span<const NewTrack> tracks) {
    std::vector<std::string> contents;
    std::vector<std::string> sources;
    for (const NewTrack& track : tracks) {
      contents.push_back(clean_utf8(track.content_hash));
      sources.push_back(encode_path(track.source));
    }
    find(connection, "content_hash", contents);
    find(connection, "source", sources);
  }

  const Known* of_content(const std::string& content_hash) const {
    return at(by_content_, clean_utf8(content_hash));
  }
  const Known* of_source(const std::string& source) const { return at(by_source_, source); }

  /// The track is this now, whatever `before` says that it was.
  void now(std::int64_t track_id, const NewTrack& track, const Known* before) {
    if (before != nullptr) by_content_.erase(std::string(before->content_hash));
    const Known known{track_id, clean_utf8(track.content_hash), track.source};
    by_content_.insert_or_assign(known.content_hash, known);
    by_source_.insert_or_assign(known.source, known);
  }

 private:
  using Map = std::unordered_map<std::string, Known>;

  static const Known* at(const Map& map, const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }

  // A join, for a hash index is not asked for an array.
  void find(Connection& connection, const std::string& column,
            const std::vector<std::string>& values) {
    const Rows rows = connection.query(
        "select track_id, content_hash, source from tracks join"
        " (select distinct unnest($1::text[]) as " +
            column + ") as asked using (" + column + ") order by track_id",
        {format_text_array(values)});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Known known{rows.integer(i, 0), rows.text(i, 1), decode_path(rows.text(i, 2))};
      by_content_.emplace(known.content_hash, known);
      by_source_.emplace(known.source, known);
    }
  }

  Map by_content_;
  Map by_source_;
};

bool has_melodies(Connection& connection, std::int64_t track_id, const NewMelodies& melodies) {
  return !connection
              .query(
                  "select 1 from melodies where track_id = $1 and method = $2"
                  " and method_version = $3 and packed = $4",
                  {track_id, melodies.method, melodies.method_version,
                   format_bytea(melodies.packed)})
              .empty();
}

/// The recording is known. Its fingerprint may still be of another profile or an older version, and
/// so may its melodies; their bytes are compared, so that a damaged row is mended by the same
/// content.
PutResult put_known(Connection& connection, const KnownTracks::Known& known,
                    const NewTrack& track) {
  if (known.source ==
      track.source) {  // touched or retagged: let the next ingest skip it by size and time
    connection.query(
        "update tracks set source_size = $2, source_mtime_ns = $3 where track_id = $1"
        " and (source_size, source_mtime_ns) is distinct from ($2::bigint, $3::bigint)",
        {known.track_id, track.source_size, track.source_mtime_ns});
  }
  PutResult result{known.track_id, PutResult::What::already_there, known.source};
  if (!track.profile.empty() && !has_fingerprint(connection, known.track_id, track)) {
    put_fingerprint(connection, known.track_id, track);
    connection.query("update tracks set landmarks = $2 where track_id = $1",
                     {known.track_id, track.landmarks});
    result.what = PutResult::What::replaced;
  }
  for (const NewMelodies& melodies : track.melodies) {
    if (has_melodies(connection, known.track_id, melodies)) continue;
    put_melodies(connection, known.track_id, melodies);
    result.what = PutResult::What::replaced;
  }
  return result;
}

/// @param before  the track that has the source, if there is one
PutResult put_unknown(Connection& connection, const KnownTracks::Known* before,
                      const NewTrack& track) {
  PutResult result;
  if (before != nullptr) {
    result = {before->track_id, PutResult::What::replaced, {}};
    replace(connection, before->track_id, track);
  } else {
    result = {add(connection, track), PutResult::What::added, {}};
  }
  if (!track.profile.empty()) put_fingerprint(connection, result.track_id, track);
  for (const NewMelodies& melodies : track.melodies)
    put_melodies(connection, result.track_id, melodies);
  return result;
}

}  // namespace

PutResult Store::put_track(const NewTrack& track) { return put_tracks({&track, 1}).front(); }

std::vector<PutResult> Store::put_tracks(std::span<const NewTrack> tracks) {
  Connection& connection = state_->connection;
  std::vector<PutResult> results;
  connection.transaction([&] {
    lock_contents_and_sources(connection, tracks);
    KnownTracks known(connection, tracks);
    for (const NewTrack& track : tracks) {
      if (const auto* same = known.of_content(track.content_hash)) {
        results.push_back(put_known(connection, *same, track));
        continue;
      }
      const auto* before = known.of_source(track.source);
      results.push_back(put_unknown(connection, before, track));
      known.now(results.back().track_id, track, before);
    }
    for (const PutResult& result : results) {
      if (result.what != PutResult::What::already_there) {
        state_->log_change(result.track_id, Change::What::upsert);
      }
    }
  });
  return results;
}

}  // namespace spintag::db
