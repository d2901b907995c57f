// db/outbox.cpp - events on their way to sinks: put, take, settle, count.
#include "db/store_state.h"

namespace spintag::db {

namespace {

constexpr const char* kEventColumns =
    "outbox_id, event_id, station, sink, type, is_log, body, created_at, attempts";

std::vector<OutboxEvent> read_events(const Rows& rows) {
  std::vector<OutboxEvent> events;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    OutboxEvent event;
    event.outbox_id = rows.integer(i, 0);
    event.event_id = rows.text(i, 1);
    event.station = rows.text(i, 2);
    event.sink = rows.text(i, 3);
    event.type = rows.text(i, 4);
    event.is_log = rows.truth(i, 5);
    event.body = rows.text(i, 6);
    event.created_at = rows.time(i, 7);
    event.attempts = static_cast<int>(rows.integer(i, 8));
    events.push_back(std::move(event));
  }
  return events;
}

/// Of waiting state events that nobody is delivering, all but the newest of each station and sink.
constexpr const char* kDropSuperseded =
    "update outbox set status = 'dropped', done_at = now(), note = 'superseded' where outbox_id in "
    "("
    "  select old.outbox_id from outbox old where old.status = 'waiting' and not old.is_log"
    "  and (old.leased_until is null or old.leased_until <= clock_timestamp())"
    "  and exists (select 1 from outbox new where new.station = old.station and new.sink = old.sink"
    "              and not new.is_log and new.status = 'waiting' and new.outbox_id > old.outbox_id)"
    "  for update skip locked)";

/// For each station and sink the next log event and the newest state event, if it is due. While a
/// state event is being delivered a newer one waits: two requests on their way at once might arrive
/// in the wrong order.
constexpr const char* kTakeDue =
    "with heads as ("
    "  (select distinct on (station, sink) outbox_id from outbox where status = 'waiting' and "
    "is_log"
    "   and ($3::text is null or sink = $3) order by station, sink, outbox_id)"
    "  union all"
    "  (select distinct on (station, sink) outbox_id from outbox state"
    "   where status = 'waiting' and not is_log and ($3::text is null or sink = $3) and not exists "
    "("
    "     select 1 from outbox busy where busy.station = state.station and busy.sink = state.sink"
    "     and not busy.is_log and busy.status = 'waiting' and busy.leased_until > "
    "clock_timestamp())"
    "   order by station, sink, outbox_id desc)"
    "), due as ("
    "  select outbox_id from outbox where outbox_id in (select outbox_id from heads)"
    "  and status = 'waiting' and not_before <= clock_timestamp()"
    "  and (leased_until is null or leased_until <= clock_timestamp())"
    "  order by outbox_id limit nullif($1::bigint, 0) for update skip locked"
    "), taken as ("
    "  update outbox set leased_until = clock_timestamp() + $2 * interval '1 second'"
    "  where outbox_id in (select outbox_id from due) returning *"
    ") select ";

/// Deletes what was settled a month ago, once an hour, and keeps its count.
constexpr const char* kPurge =
    "with gone as ("
    "  delete from outbox where outbox_id in (select outbox_id from outbox where status in"
    "  ('delivered', 'dropped') and done_at < now() - interval '30 days' limit 10000)"
    "  returning station, status"
    ") insert into outbox_purged as total (station, delivered, dropped)"
    "  select station, count(*) filter (where status = 'delivered'),"
    "         count(*) filter (where status = 'dropped') from gone group by station"
    "  on conflict (station) do update set delivered = total.delivered + excluded.delivered,"
    "  dropped = total.dropped + excluded.dropped";

bool purge_is_due(std::optional<TimePoint>& purged_at) {
  const auto now =
      std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  if (purged_at && now - *purged_at < std::chrono::hours(1) && now >= *purged_at) return false;
  purged_at = now;
  return true;
}

}  // namespace

void Store::State::insert_events(const std::vector<OutboxEvent>& events) {
  for (const OutboxEvent& event : events) {
    const bool timed = event.created_at != TimePoint{};
    connection.query(
        "insert into outbox (outbox_id, event_id, station, sink, type, is_log, body, created_at)"
        " values (nextval('outbox_ids'), coalesce($1, 'evt_' || gen_random_uuid()), $2, $3, $4, "
        "$5, $6,"
        " coalesce($7, now())) on conflict (station, sink, event_id) do nothing",
        {event.event_id.empty() ? Param(std::nullopt) : Param(event.event_id), event.station,
         event.sink, event.type, event.is_log, event.body,
         timed ? Param(event.created_at) : Param(std::nullopt)});
  }
}

std::vector<OutboxEvent> Store::State::take_due_events(std::optional<std::string> sink,
                                                       std::size_t limit,
                                                       std::chrono::seconds lease) {
  std::vector<OutboxEvent> events;
  connection.transaction([&] {
    // One taker at a time, for a few milliseconds: each decides on what the one before has left.
    connection.query("select pg_advisory_xact_lock(hashtext('spintag outbox'))");
    if (purge_is_due(purged_at)) connection.query(kPurge);
    connection.query(kDropSuperseded);
    events = read_events(
        connection.query(std::string(kTakeDue) + kEventColumns + " from taken order by outbox_id",
                         {limit, lease.count(), sink ? Param(*sink) : Param(std::nullopt)}));
  });
  return events;
}

void Store::put_events(const std::vector<OutboxEvent>& events) {
  if (events.empty()) return;
  state_->connection.transaction([&] { state_->insert_events(events); });
}

std::vector<OutboxEvent> Store::take_due_events(std::size_t limit, std::chrono::seconds lease) {
  return state_->take_due_events(std::nullopt, limit, lease);
}

std::vector<OutboxEvent> Store::take_due_events(const std::string& sink, std::size_t limit,
                                                std::chrono::seconds lease) {
  return state_->take_due_events(sink, limit, lease);
}

void Store::mark_delivered(std::int64_t outbox_id) {
  state_->connection.query(
      "update outbox set status = 'delivered', done_at = now(), leased_until = null, note = null,"
      " attempts = attempts + 1 where outbox_id = $1 and status = 'waiting'",
      {outbox_id});
}

void Store::mark_dropped(std::int64_t outbox_id, const std::string& reason) {
  state_->connection.query(
      "update outbox set status = 'dropped', done_at = now(), leased_until = null, note = $2"
      " where outbox_id = $1 and status = 'waiting'",
      {outbox_id, reason});
}

void Store::mark_retry(std::int64_t outbox_id, TimePoint not_before, const std::string& error) {
  state_->connection.query(
      "update outbox set not_before = $2, leased_until = null, note = $3, attempts = attempts + 1"
      " where outbox_id = $1 and status = 'waiting'",
      {outbox_id, not_before, error});
}

void Store::mark_dead(std::int64_t outbox_id, const std::string& error) {
  state_->connection.query(
      "update outbox set status = 'dead', done_at = now(), leased_until = null, note = $2,"
      " attempts = attempts + 1 where outbox_id = $1 and status = 'waiting'",
      {outbox_id, error});
}

std::vector<OutboxEvent> Store::dead_events(std::size_t limit) {
  return read_events(state_->connection.query(
      "select " + std::string(kEventColumns) +
          " from outbox where status = 'dead' order by outbox_id desc limit nullif($1::bigint, 0)",
      {limit}));
}

std::int64_t Store::replay_dead() {
  return state_->connection
      .query(
          "with again as (update outbox set status = 'waiting', attempts = 0, not_before = now(),"
          " done_at = null where status = 'dead' returning 1) select count(*) from again")
      .integer(0, 0);
}

OutboxCounts Store::outbox_counts() {
  const Rows rows = state_->connection.query(
      "select count(*) filter (where status = 'waiting'),"
      " count(*) filter (where status = 'delivered')"
      "   + (select coalesce(sum(delivered), 0) from outbox_purged),"
      " count(*) filter (where status = 'dropped')"
      "   + (select coalesce(sum(dropped), 0) from outbox_purged),"
      " count(*) filter (where status = 'dead') from outbox");
  return {rows.integer(0, 0), rows.integer(0, 1), rows.integer(0, 2), rows.integer(0, 3)};
}

}  // namespace spintag::db
