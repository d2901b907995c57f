// db/plays.cpp - plays and segments of stations, each written with its events in one transaction.
#include "db/store_state.h"

namespace spintag::db {

namespace {

using MakeEvents = std::function<std::vector<OutboxEvent>(const Play&)>;

constexpr const char* kSelectPlay =
    "select play_id, station, track_id, started_at, ended_at, detected_at, track_start_s, "
    "confidence,"
    " score, speed, pitch, method, stream_title, time_accuracy_s, track_json from plays ";

Play read_play(const Rows& rows, std::size_t row) {
  Play play;
  play.play_id = rows.integer(row, 0);
  play.station = rows.text(row, 1);
  play.track_id = rows.integer(row, 2);
  play.started_at = rows.time(row, 3);
  play.ended_at = rows.time_if_any(row, 4);
  play.detected_at = rows.time(row, 5);
  play.track_start_s = rows.real(row, 6);
  play.confidence = rows.real(row, 7);
  play.score = rows.real(row, 8);
  play.speed = rows.real(row, 9);
  play.pitch = rows.real(row, 10);
  play.method = rows.text(row, 11);
  play.stream_title = rows.text(row, 12);
  play.time_accuracy_s = rows.real(row, 13);
  play.track_json = rows.text(row, 14);
  return play;
}

std::vector<Play> read_plays(const Rows& rows) {
  std::vector<Play> plays;
  for (std::size_t i = 0; i < rows.size(); ++i) plays.push_back(read_play(rows, i));
  return plays;
}

Segment read_segment(const Rows& rows, std::size_t row) {
  return {rows.integer(row, 0), rows.text(row, 1), rows.text(row, 2), rows.time(row, 3),
          rows.time_if_any(row, 4)};
}

/// $1 = station, $2 and $3 = from and to; null = all.
constexpr const char* kFilter =
    "($1::text is null or station = $1) and ($2::timestamptz is null or started_at >= $2)"
    " and ($3::timestamptz is null or started_at < $3)";

Param station_of(const PlayFilter& filter) {
  return filter.station.empty() ? Param(std::nullopt) : Param(filter.station);
}

/// @return the new play's id; nothing if this very play is stored already
std::optional<std::int64_t> insert_play(Connection& connection, const Play& play) {
  const Rows rows = connection.query(
      "insert into plays (play_id, station, track_id, started_at, ended_at, detected_at, "
      "track_start_s,"
      " confidence, score, speed, pitch, method, stream_title, time_accuracy_s, track_json)"
      " values (nextval('play_ids'), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
      " on conflict (station, started_at, track_id) do nothing returning play_id",
      {play.station, play.track_id, play.started_at, play.ended_at, play.detected_at,
       play.track_start_s, play.confidence, play.score, play.speed, play.pitch, play.method,
       play.stream_title, play.time_accuracy_s, play.track_json});
  if (rows.empty()) return std::nullopt;
  return rows.integer(0, 0);
}

std::vector<OutboxEvent> events_of(const Play& play, const MakeEvents& make_events) {
  return make_events ? make_events(play) : std::vector<OutboxEvent>{};
}

}  // namespace

std::int64_t Store::begin_play(Play& play, const MakeEvents& make_events) {
  Connection& connection = state_->connection;
  Play stored = play;
  connection.transaction([&] {
    const auto fresh = insert_play(connection, play);
    if (!fresh) {  // written before by a call whose answer was lost, and its events with it
      stored.play_id = connection
                           .query(
                               "select play_id from plays where station = $1 and started_at = $2"
                               " and track_id = $3",
                               {play.station, play.started_at, play.track_id})
                           .integer(0, 0);
      return;
    }
    stored.play_id = *fresh;
    state_->insert_events(events_of(stored, make_events));
  });
  play.play_id = stored.play_id;
  return play.play_id;
}

void Store::update_play(const Play& play, const MakeEvents& make_events) {
  Connection& connection = state_->connection;
  connection.transaction([&] {
    const Rows updated = connection.query(
        "update plays set track_id = $3, started_at = $4, ended_at = $5, detected_at = $6,"
        " track_start_s = $7, confidence = $8, score = $9, speed = $10, pitch = $11, method = $12,"
        " stream_title = $13, time_accuracy_s = $14, track_json = $15"
        " where play_id = $1 and station = $2 returning play_id",
        {play.play_id, play.station, play.track_id, play.started_at, play.ended_at,
         play.detected_at, play.track_start_s, play.confidence, play.score, play.speed, play.pitch,
         play.method, play.stream_title, play.time_accuracy_s, play.track_json});
    if (updated.empty()) {
      throw StoreError(
          StoreError::Kind::refused,
          "there is no play " + std::to_string(play.play_id) + " of station " + play.station);
    }
    state_->insert_events(events_of(play, make_events));
  });
}

std::vector<Play> Store::plays(const PlayFilter& filter) {
  // The newest `limit`, told in the order in which they were played.
  return read_plays(state_->connection.query(
      "select * from (" + std::string(kSelectPlay) + "where " + kFilter +
          " order by started_at desc, play_id desc limit nullif($4::bigint, 0)) newest"
          " order by started_at, play_id",
      {station_of(filter), filter.from, filter.to, filter.limit}));
}

void Store::for_each_play(const PlayFilter& filter, const std::function<void(const Play&)>& visit) {
  if (filter.limit != 0) {
    for (const Play& play : plays(filter)) visit(play);
    return;
  }
  constexpr std::size_t kPage = 500;
  std::optional<TimePoint> last_time;
  std::int64_t last_id = 0;
  for (std::size_t found = kPage; found == kPage;) {
    const std::vector<Play> page = read_plays(state_->connection.query(
        std::string(kSelectPlay) + "where " + kFilter +
            " and ($4::timestamptz is null or (started_at, play_id) > ($4, $5::bigint))"
            " order by started_at, play_id limit $6",
        {station_of(filter), filter.from, filter.to, last_time, last_id, kPage}));
    found = page.size();
    for (const Play& play : page) {
      last_time = play.started_at;
      last_id = play.play_id;
      visit(play);
    }
  }
}

std::vector<Play> Store::open_plays(const std::string& station) {
  return read_plays(state_->connection.query(
      std::string(kSelectPlay) + "where ended_at is null and ($1::text is null or station = $1) "
                                 "order by started_at, play_id",
      {station.empty() ? Param(std::nullopt) : Param(station)}));
}

std::int64_t Store::put_segment(Segment& segment, const std::vector<OutboxEvent>& events) {
  Connection& connection = state_->connection;
  std::int64_t id = 0;
  connection.transaction([&] {
    // As for plays: the same segment again is the same row, and the same events are the same
    // events.
    id = connection
             .query(
                 "insert into segments (segment_id, station, kind, started_at, ended_at)"
                 " values (nextval('segment_ids'), $1, $2, $3, $4)"
                 " on conflict (station, started_at, kind) do update set ended_at = "
                 "excluded.ended_at"
                 " returning segment_id",
                 {segment.station, segment.kind, segment.started_at, segment.ended_at})
             .integer(0, 0);
    state_->insert_events(events);
  });
  segment.segment_id = id;
  return id;
}

void Store::update_segment(const Segment& segment) {
  const Rows updated = state_->connection.query(
      "update segments set kind = $3, started_at = $4, ended_at = $5"
      " where segment_id = $1 and station = $2 returning segment_id",
      {segment.segment_id, segment.station, segment.kind, segment.started_at, segment.ended_at});
  if (updated.empty()) {
    throw StoreError(StoreError::Kind::refused, "there is no segment " +
                                                    std::to_string(segment.segment_id) +
                                                    " of station " + segment.station);
  }
}

std::vector<Segment> Store::segments(const PlayFilter& filter) {
  const Rows rows = state_->connection.query(
      "select * from (select segment_id, station, kind, started_at, ended_at from segments where " +
          std::string(kFilter) +
          " order by started_at desc, segment_id desc limit nullif($4::bigint, 0)) newest"
          " order by started_at, segment_id",
      {station_of(filter), filter.from, filter.to, filter.limit});
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < rows.size(); ++i) segments.push_back(read_segment(rows, i));
  return segments;
}

}  // namespace spintag::db
