// db/catalogue.cpp - tracks: put, find, edit, remove.
#include "db/store_state.h"

namespace spintag::db {

namespace {

constexpr const char* kSelectTrack =
    "select track_id, title, artist, album, label, composer, isrcs, recording_mbid, extra, source,"
    " content_hash, source_size, source_mtime_ns, duration_s, landmarks, ingested_at from tracks ";

Track read_track(const Rows& rows, std::size_t row) {
  Track track;
  track.track_id = rows.integer(row, 0);
  track.info.title = rows.text(row, 1);
  track.info.artist = rows.text(row, 2);
  track.info.album = rows.text(row, 3);
  track.info.label = rows.text(row, 4);
  track.info.composer = rows.text(row, 5);
  track.info.isrcs = parse_text_array(rows.text(row, 6));
  track.info.recording_mbid = rows.text(row, 7);
  track.info.extra_json = rows.text(row, 8);
  track.source = decode_path(rows.text(row, 9));
  track.content_hash = rows.text(row, 10);
  track.source_size = rows.integer(row, 11);
  track.source_mtime_ns = rows.integer(row, 12);
  track.duration_s = rows.real(row, 13);
  track.landmarks = rows.integer(row, 14);
  track.ingested_at = rows.time(row, 15);
  return track;
}

/// The first track that `where` finds for $1.
std::optional<Track> find(Connection& connection, const std::string& where, const Param& value) {
  const Rows rows =
      connection.query(kSelectTrack + ("where " + where) + " order by track_id limit 1", {value});
  if (rows.empty()) return std::nullopt;
  return read_track(rows, 0);
}

/// Two ingests of one recording, or of one path, go one after the other: see 0001_initial.sql for
/// why no constraint does it. Always in this order, and before the lock of the change log, so that
/// no two wait for each other.
void lock_content_and_source(Connection& connection, const NewTrack& track) {
  connection.query("select pg_advisory_xact_lock(hashtext('spintag content'), hashtext($1))",
                   {track.content_hash});
  connection.query("select pg_advisory_xact_lock(hashtext('spintag source'), hashtext($1))",
                   {encode_path(track.source)});
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

/// The recording is known. Its fingerprint may still be of another profile or an older version.
PutResult put_known(Connection& connection, const Track& known, const NewTrack& track) {
  if (known.source ==
      track.source) {  // touched or retagged: let the next ingest skip it by size and time
    connection.query(
        "update tracks set source_size = $2, source_mtime_ns = $3 where track_id = $1"
        " and (source_size, source_mtime_ns) is distinct from ($2::bigint, $3::bigint)",
        {known.track_id, track.source_size, track.source_mtime_ns});
  }
  if (has_fingerprint(connection, known.track_id, track)) {
    return {known.track_id, PutResult::What::already_there};
  }
  put_fingerprint(connection, known.track_id, track);
  connection.query("update tracks set landmarks = $2 where track_id = $1",
                   {known.track_id, track.landmarks});
  return {known.track_id, PutResult::What::replaced};
}

PutResult put_unknown(Connection& connection, const NewTrack& track) {
  const auto before = find(connection, "source = $1", encode_path(track.source));
  PutResult result;
  if (before) {
    result = {before->track_id, PutResult::What::replaced};
    replace(connection, before->track_id, track);
  } else {
    result = {add(connection, track), PutResult::What::added};
  }
  put_fingerprint(connection, result.track_id, track);
  return result;
}

}  // namespace

PutResult Store::put_track(const NewTrack& track) {
  Connection& connection = state_->connection;
  PutResult result;
  connection.transaction([&] {
    lock_content_and_source(connection, track);
    const auto known = find(connection, "content_hash = $1", track.content_hash);
    result = known ? put_known(connection, *known, track) : put_unknown(connection, track);
    if (result.what != PutResult::What::already_there) {
      state_->log_change(result.track_id, Change::What::upsert);
    }
  });
  return result;
}

std::optional<Track> Store::find_track(std::int64_t track_id) {
  return find(state_->connection, "track_id = $1", track_id);
}

std::optional<Track> Store::find_by_hash(const std::string& content_hash) {
  return find(state_->connection, "content_hash = $1", content_hash);
}

std::optional<Track> Store::find_by_source(const std::string& source) {
  return find(state_->connection, "source = $1", encode_path(source));
}

void Store::for_each_track(const std::function<void(const Track&)>& visit) {
  constexpr std::size_t kPage = 500;  // some 200 KiB
  std::int64_t last = -1;
  for (std::size_t found = kPage; found == kPage;) {
    const Rows rows = state_->connection.query(
        kSelectTrack + std::string("where track_id > $1 order by track_id limit $2"),
        {last, kPage});
    found = rows.size();
    for (std::size_t i = 0; i < found; ++i) {
      const Track track = read_track(rows, i);
      last = track.track_id;
      visit(track);
    }
  }
}

bool Store::edit_track(std::int64_t track_id, const TrackInfo& info) {
  Connection& connection = state_->connection;
  bool found = false;
  connection.transaction([&] {
    found =
        !connection
             .query(
                 "update tracks set title = $2, artist = $3, album = $4, label = $5, composer = $6,"
                 " isrcs = $7, recording_mbid = $8, extra = $9 where track_id = $1"
                 " returning track_id",
                 {track_id, info.title, info.artist, info.album, info.label, info.composer,
                  format_text_array(info.isrcs), info.recording_mbid, info.extra_json})
             .empty();
    if (found) state_->log_change(track_id, Change::What::upsert);
  });
  return found;
}

bool Store::remove_track(std::int64_t track_id) {
  Connection& connection = state_->connection;
  bool found = false;
  connection.transaction([&] {
    found =
        !connection.query("delete from tracks where track_id = $1 returning track_id", {track_id})
             .empty();
    for (const char* table : {"fingerprints", "melodies", "signatures"}) {
      connection.query(std::string("delete from ") + table + " where track_id = $1", {track_id});
    }
    if (found) state_->log_change(track_id, Change::What::remove);
  });
  return found;
}

}  // namespace spintag::db
