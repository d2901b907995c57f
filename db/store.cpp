// db/store.cpp - the store itself: its connection, its change log and what it says about itself.
#include "db/store.h"

#include "db/store_state.h"

namespace spintag::db {

Store::Store(std::string url) : state_(std::make_unique<State>(std::move(url))) {
  state_->connection.open();
}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

void Store::State::log_change(std::int64_t track_id, Change::What what) {
  connection.query("select pg_advisory_xact_lock(hashtext('spintag change_log'))");
  connection.query(
      "insert into change_log (change_id, track_id, removed) values (nextval('change_ids'), $1, "
      "$2)",
      {track_id, what == Change::What::remove});
}

void Store::with_snapshot(const std::function<void()>& body) { state_->connection.snapshot(body); }

std::int64_t Store::newest_change() {
  return state_->connection.query("select coalesce(max(change_id), 0) from change_log")
      .integer(0, 0);
}

std::vector<Change> Store::changes_after(std::int64_t change_id, std::size_t limit) {
  const Rows rows = state_->connection.query(
      "select change_id, track_id, removed from change_log where change_id > $1"
      " order by change_id limit nullif($2::bigint, 0)",
      {change_id, limit});
  std::vector<Change> changes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    changes.push_back({rows.integer(i, 0), rows.integer(i, 1),
                       rows.truth(i, 2) ? Change::What::remove : Change::What::upsert});
  }
  return changes;
}

Sizes Store::sizes() {
  const Rows rows = state_->connection.query(
      "select (select count(*) from tracks), pg_total_relation_size('tracks')"
      " + pg_total_relation_size('fingerprints') + pg_total_relation_size('melodies')"
      " + pg_total_relation_size('signatures') + pg_total_relation_size('change_log'),"
      " pg_total_relation_size('fingerprints')");
  return {rows.integer(0, 0), rows.integer(0, 1), rows.integer(0, 2)};
}

std::string Store::server_version() {
  return state_->connection.query("show server_version").text(0, 0);
}

int Store::schema_version() {
  return static_cast<int>(
      state_->connection.query("select max(version) from schema_migrations").integer(0, 0));
}

}  // namespace spintag::db
