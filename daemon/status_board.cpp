// daemon/status_board.cpp - what the daemon knows right now.
#include "daemon/status_board.h"

#include <algorithm>

#include "daemon/rfc3339.h"

namespace spintag::daemon {
namespace {

void put_in_history(StationStatus& station, const db::Play& play) {
  const auto same = std::ranges::find(station.history, play.play_id, &db::Play::play_id);
  if (same != station.history.end()) {
    *same = play;
    return;
  }
  const auto older = std::ranges::find_if(station.history, [&play](const db::Play& other) {
    return other.started_at < play.started_at;
  });
  station.history.insert(older, play);
  if (station.history.size() > StatusBoard::kHistory) station.history.pop_back();
}

}  // namespace

const char* to_string(StreamState state) noexcept {
  switch (state) {
    case StreamState::connecting:
      return "connecting";
    case StreamState::connected:
      return "connected";
    case StreamState::lost:
      return "lost";
  }
  return "lost";
}

StatusBoard::StatusBoard(std::span<const config::Station> stations) {
  status_.started_at = utc_now();
  for (const config::Station& station : stations) {
    StationStatus& status = status_.stations.emplace_back();
    status.name = station.name;
    status.title = station.title.empty() ? station.name : station.title;
  }
}

StationStatus* StatusBoard::find_locked(const std::string& station) {
  const auto found = std::ranges::find(status_.stations, station, &StationStatus::name);
  return found == status_.stations.end() ? nullptr : &*found;
}

void StatusBoard::set_stream(const std::string& station, StreamState state,
                             const std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (StationStatus* const status = find_locked(station)) {
    status->stream = state;
    status->problem = problem;
  }
}

void StatusBoard::saw_samples(const std::string& station, db::TimePoint at) {
  const std::lock_guard lock(mutex_);
  if (StationStatus* const status = find_locked(station)) status->last_samples_at = at;
}

void StatusBoard::set_label(const std::string& station, const std::string& label) {
  const std::lock_guard lock(mutex_);
  if (StationStatus* const status = find_locked(station)) {
    status->label = label;
    status->melody.reset();
  }
}

void StatusBoard::set_melody(const std::string& station, const MelodyNews& melody) {
  const std::lock_guard lock(mutex_);
  if (StationStatus* const status = find_locked(station)) status->melody = melody;
}

void StatusBoard::set_counters(const std::string& station, const StationCounters& counters) {
  const std::lock_guard lock(mutex_);
  if (StationStatus* const status = find_locked(station)) status->counters = counters;
}

void StatusBoard::play_on_air(const db::Play& play) {
  const std::lock_guard lock(mutex_);
  StationStatus* const status = find_locked(play.station);
  if (status == nullptr) return;
  if (status->now_playing && status->now_playing->play_id != play.play_id) {
    put_in_history(*status, *status->now_playing);
  }
  status->now_playing = play;
}

void StatusBoard::play_ended(const db::Play& play) {
  const std::lock_guard lock(mutex_);
  StationStatus* const status = find_locked(play.station);
  if (status == nullptr) return;
  if (status->now_playing && status->now_playing->play_id == play.play_id) {
    status->now_playing.reset();
  }
  put_in_history(*status, play);
}

void StatusBoard::set_index(std::uint64_t tracks) {
  const std::lock_guard lock(mutex_);
  status_.index_loaded = true;
  status_.index_tracks = tracks;
}

void StatusBoard::set_device(const std::string& device) {
  const std::lock_guard lock(mutex_);
  status_.device = device;
}

void StatusBoard::device_failed() {
  const std::lock_guard lock(mutex_);
  ++status_.device_failures;
  status_.device = "cpu (" + status_.device + " failed)";
}

void StatusBoard::set_database(bool up, const std::string& problem) {
  const std::lock_guard lock(mutex_);
  status_.database_up = up;
  status_.database_problem = up ? std::string() : problem;
}

void StatusBoard::set_outbox(const db::OutboxCounts& counts) {
  const std::lock_guard lock(mutex_);
  status_.outbox = counts;
}

void StatusBoard::delivered(const std::string& sink) {
  const std::lock_guard lock(mutex_);
  ++status_.sinks[sink].delivered;
}

void StatusBoard::delivery_failed(const std::string& sink) {
  const std::lock_guard lock(mutex_);
  ++status_.sinks[sink].failed_attempts;
}

void StatusBoard::delivery_dropped(const std::string& sink) {
  const std::lock_guard lock(mutex_);
  ++status_.sinks[sink].dropped;
}

void StatusBoard::delivery_dead(const std::string& sink) {
  const std::lock_guard lock(mutex_);
  ++status_.sinks[sink].dead;
}

void StatusBoard::sink_disabled(const std::string& sink, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  status_.sinks[sink].disabled = reason;
}

Status StatusBoard::snapshot() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace spintag::daemon
