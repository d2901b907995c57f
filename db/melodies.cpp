// db/melodies.cpp - packed melodies, streamed with COPY.
#include "db/copy_stream.h"
#include "db/store_state.h"

namespace spintag::db {

namespace {

void stream(Connection& connection, const std::string& condition,
            const std::function<void(Melodies&&)>& visit) {
  connection.copy_out(
      "select track_id, method, method_version::bigint, packed from melodies" + condition,
      [&](const Connection::Fields& fields) {
        const auto method = fields[1];
        const auto packed = fields[3];
        visit({read_int64(fields[0]),
               {reinterpret_cast<const char*>(method.data()), method.size()},
               static_cast<int>(read_int64(fields[2])),
               {packed.begin(), packed.end()}});
      });
}

}  // namespace

void put_melodies(Connection& connection, std::int64_t track_id, const NewMelodies& melodies) {
  connection.query(
      "insert into melodies (track_id, method, method_version, packed) values ($1, $2, $3, $4)"
      " on conflict (track_id, method) do update"
      " set method_version = excluded.method_version, packed = excluded.packed",
      {track_id, melodies.method, melodies.method_version, format_bytea(melodies.packed)});
}

bool Store::put_melodies(std::int64_t track_id, const NewMelodies& melodies) {
  Connection& connection = state_->connection;
  bool found = false;
  connection.transaction([&] {
    // Locked, so that no melody outlives a track that is removed meanwhile.
    found = !connection.query("select 1 from tracks where track_id = $1 for update", {track_id})
                 .empty();
    if (!found) return;
    db::put_melodies(connection, track_id, melodies);
    state_->log_change(track_id, Change::What::upsert);
  });
  return found;
}

void Store::for_each_melodies(const std::function<void(Melodies&&)>& visit) {
  stream(state_->connection, "", visit);
}

std::vector<Melodies> Store::melodies(std::span<const std::int64_t> track_ids) {
  std::vector<Melodies> found;
  if (track_ids.empty()) return found;
  stream(state_->connection,
         " where track_id = any ('" + format_id_array(track_ids) + "') order by track_id, method",
         [&](Melodies&& melodies) { found.push_back(std::move(melodies)); });
  return found;
}

}  // namespace spintag::db
