// daemon/doctor/store_checks.cpp - PostgreSQL, the catalogue, events that wait, and the index
// cache.
#include "daemon/doctor/store_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "daemon/open_store.h"
#include "fingerprint/profile.h"

namespace spintag::daemon {

using Health = Finding::Health;

namespace {

constexpr std::size_t kDeadShown = 1000;

/// The folder that db::PrivateCluster makes when it is first used.
bool cluster_exists(const std::filesystem::path& state) {
  std::error_code error;
  return std::filesystem::exists(state / "postgres", error) || error;
}

void report_move(const std::string& url, const Report& report) {
  report({Health::ok, "moving",
          fmt::format("to a PostgreSQL server, while spintag runs: pg_dump --format=custom "
                      "--no-owner '{}' > spintag.dump; pg_restore --no-owner --dbname=URL "
                      "spintag.dump; then set database.url = \"URL\"",
                      url),
          ""});
}

void report_events(db::Store& store, bool replay_dead, const Report& report) {
  if (replay_dead) {
    report({Health::ok, "replay", fmt::format("{} dead events are due again", store.replay_dead()),
            ""});
  }
  const auto counts = store.outbox_counts();
  const std::string message =
      fmt::format("{} delivered, {} waiting, {} dropped as old news, {} dead", counts.delivered,
                  counts.waiting, counts.dropped, counts.dead);
  if (counts.dead == 0) {
    report({Health::ok, "events", message, ""});
    return;
  }
  std::map<std::string, int> by_sink;
  for (const auto& event : store.dead_events(kDeadShown)) ++by_sink[event.sink];
  std::string where;
  for (const auto& [sink, number] : by_sink) {
    where += fmt::format("{}{}: {}", where.empty() ? " (" : ", ", sink, number);
  }
  report({Health::warn, "events", message + where + (where.empty() ? "" : ")"),
          "mend the sink, then: spintag doctor --replay-dead"});
}

/// @return what to do so that something is recognised; empty if there is something to recognise
std::string what_to_ingest(db::Store& store, std::int64_t tracks) {
  using fingerprint::BroadcastProfile;
  const std::string profile(BroadcastProfile::name);
  if (store.count_fingerprints(profile, BroadcastProfile::version) > 0) return "";
  return tracks == 0 ? "nothing can be recognised yet: spintag ingest FOLDER"
                     : "nothing can be recognised yet but what is hummed, for no recording has a "
                       "fingerprint: spintag ingest FOLDER";
}

}  // namespace

bool check_postgresql_programs(const Report& report) {
  std::error_code error;
  int newest = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    std::error_code unreadable;
    const bool whole = std::filesystem::exists(entry.path() / "bin" / "initdb", unreadable) &&
                       std::filesystem::exists(entry.path() / "bin" / "postgres", unreadable);
    if (whole) newest = std::max(newest, std::atoi(entry.path().filename().c_str()));
  }
  if (newest == 0) {
    report({Health::fail, "postgresql", "its programs are not installed",
            "apt-get install postgresql, or set database.url to a server"});
    return false;
  }
  report({Health::ok, "postgresql", fmt::format("programs of version {}", newest), ""});
  return true;
}

void check_store(const config::Settings& settings, bool replay_dead, const Report& report) {
  const auto state = state_directory(settings);
  const bool is_private = settings.database_url.empty();
  if (is_private && !cluster_exists(state)) {
    report(
        {Health::ok, "database", "none yet: the first ingest makes one in " + state.string(), ""});
    return;
  }
  try {
    const StoreSite site(settings);
    auto store = site.open();
    const auto sizes = store.sizes();
    report({Health::ok, "database",
            fmt::format("{}, PostgreSQL {}, schema {}: {} tracks, {}",
                        is_private ? "private in " + state.string()
                                   : config::mask_url(settings.database_url),
                        store.server_version(), store.schema_version(), sizes.tracks,
                        human_bytes(static_cast<double>(sizes.total_bytes))),
            what_to_ingest(store, sizes.tracks)});
    if (is_private) report_move(site.url(), report);
    report_events(store, replay_dead, report);
  } catch (const db::StoreError& error) {
    report({Health::fail, "database", error.what(),
            is_private ? "the server's log is in " + state.string()
                       : "check database.url, the server and its pg_hba.conf"});
  }
}

void check_snapshot(const config::Settings& settings, const Report& report) {
  const auto file = index_snapshot_file(settings);
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  report({Health::ok, "index cache",
          error ? "none yet: the next start reads the fingerprints from the database"
                : fmt::format("{}, {}", file.string(), human_bytes(static_cast<double>(size))),
          ""});
}

}  // namespace spintag::daemon
