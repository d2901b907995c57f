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

}  // namespace

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
