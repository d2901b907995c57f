// db/fingerprints.cpp - packed fingerprints, streamed with COPY.
#include "db/copy_stream.h"
#include "db/store_state.h"

namespace spintag::db {

namespace {

/// COPY takes no parameters, hence literals.
std::string quote(const std::string& value) {
  std::string text = "'";
  for (const char c : clean_utf8(value)) {
    if (c == '\'') text += '\'';
    text += c;
  }
  return text + "'";
}

void stream(Connection& connection, const std::string& profile, int version,
            const std::string& condition, const std::function<void(Fingerprint&&)>& visit) {
  connection.copy_out(
      "select track_id, duration_s, packed from fingerprints where profile = " + quote(profile) +
          " and profile_version = " + std::to_string(version) + condition,
      [&](const Connection::Fields& fields) {
        const auto packed = fields[2];
        visit({read_int64(fields[0]), read_double(fields[1]), {packed.begin(), packed.end()}});
      });
}

}  // namespace

void Store::for_each_fingerprint(const std::string& profile, int version,
                                 const std::function<void(Fingerprint&&)>& visit) {
  stream(state_->connection, profile, version, "", visit);
}

std::vector<Fingerprint> Store::fingerprints(const std::string& profile, int version,
                                             std::span<const std::int64_t> track_ids) {
  std::vector<Fingerprint> found;
  if (track_ids.empty()) return found;
  stream(state_->connection, profile, version,
         " and track_id = any ('" + format_id_array(track_ids) + "') order by track_id",
         [&](Fingerprint&& fingerprint) { found.push_back(std::move(fingerprint)); });
  return found;
}

std::int64_t Store::count_fingerprints(const std::string& profile, int version) {
  return state_->connection
      .query("select count(*) from fingerprints where profile = $1 and profile_version = $2",
             {profile, version})
      .integer(0, 0);
}

}  // namespace spintag::db
