// db/store_state.h - what a Store holds, for the files that implement it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "db/store.h"

namespace spintag::db {

struct Store::State {
  explicit State(std::string url) : connection(std::move(url)) {}

  /// Writes the change log's line. The last statement of a transaction: it takes the lock that
  /// makes the order of change_id the order of commits, and every other writer waits for it until
  /// this transaction has committed.
  void log_change(std::int64_t track_id, Change::What what);

  /// Inserts events whose (station, sink, event_id) is new; one that is there already stays as it
  /// is.
  void insert_events(const std::vector<OutboxEvent>& events);

  /// @param sink  nothing = all of them
  std::vector<OutboxEvent> take_due_events(std::optional<std::string> sink, std::size_t limit,
                                           std::chrono::seconds lease);

  Connection connection;
  std::optional<TimePoint> purged_at;  ///< when this Store last removed old outbox rows
};

/// Within a transaction; the track is there.
void put_melodies(Connection& connection, std::int64_t track_id, const NewMelodies& melodies);

}  // namespace spintag::db
