// daemon/status_board.h - what the daemon knows right now, for the web server and for whoever asks.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/settings.h"
#include "daemon/melody_news.h"
#include "db/store.h"

namespace spintag::daemon {

enum class StreamState { connecting, connected, lost };

/// "connecting", "connected" or "lost".
const char* to_string(StreamState state) noexcept;

/// Since the daemon's start; each only grows.
struct StationCounters {
  std::uint64_t reconnects = 0;
  std::uint64_t damaged_packets = 0;
  std::uint64_t dropped_windows = 0;  ///< lost to a slow matcher
  std::uint64_t windows_searched = 0;
  std::uint64_t tags = 0;              ///< plays begun
  std::uint64_t melody_questions = 0;  ///< unknown music compared with melodies
  std::uint64_t melodies_told = 0;     ///< of which one was known
};

struct StationStatus {
  std::string name;
  std::string title;
  StreamState stream = StreamState::connecting;
  std::string problem;  ///< why the stream is lost; empty when it is not
  std::optional<db::TimePoint> last_samples_at;
  std::string label;  ///< of unmatched time: "silence", "speech", "music", "lost"; may be empty
  std::optional<MelodyNews> melody;  ///< of unknown music, where it is known
  std::optional<db::Play> now_playing;
  std::vector<db::Play> history;  ///< ended plays, the newest first, at most kHistory
  StationCounters counters;
};

/// Deliveries to one sink since the daemon's start.
struct SinkStatus {
  std::uint64_t delivered = 0;
  std::uint64_t failed_attempts = 0;
  std::uint64_t dropped = 0;  ///< state events that were too old
  std::uint64_t dead = 0;
  std::string disabled;  ///< why the sink takes no more events; empty while it does
};

struct Status {
  db::TimePoint started_at{};
  std::vector<StationStatus> stations;  ///< in the order of the configuration
  std::map<std::string, SinkStatus> sinks;
  bool index_loaded = false;
  std::uint64_t index_tracks = 0;
  std::string device;                 ///< "cpu", "cuda:0", "cpu (cuda:0 failed)"; may be empty
  std::uint64_t device_failures = 0;  ///< since the start
  bool database_up = false;
  std::string database_problem;
  db::OutboxCounts outbox;
};

/// Every function may be called from any thread. A station that the configuration does not name is
/// ignored.
class StatusBoard {
 public:
  static constexpr std::size_t kHistory = 10;

  explicit StatusBoard(std::span<const config::Station> stations);

  void set_stream(const std::string& station, StreamState state, const std::string& problem = {});
  void saw_samples(const std::string& station, db::TimePoint at);
  /// Another label ends what was known of the melody.
  void set_label(const std::string& station, const std::string& label);
  void set_melody(const std::string& station, const MelodyNews& melody);
  void set_counters(const std::string& station, const StationCounters& counters);

  /// A play began (or one that runs was corrected: same play_id). Whatever was on air before goes
  /// to the history.
  void play_on_air(const db::Play& play);
  /// Goes to the history; off the air too, if it is the one on air. A play that is there already is
  /// replaced.
  void play_ended(const db::Play& play);

  void set_index(std::uint64_t tracks);
  void set_device(const std::string& device);
  void device_failed();  ///< and the CPU does its work from now on
  void set_database(bool up, const std::string& problem = {});
  void set_outbox(const db::OutboxCounts& counts);

  void delivered(const std::string& sink);
  void delivery_failed(const std::string& sink);
  void delivery_dropped(const std::string& sink);
  void delivery_dead(const std::string& sink);
  void sink_disabled(const std::string& sink, const std::string& reason);

  Status snapshot() const;

 private:
  StationStatus* find_locked(const std::string& station);

  mutable std::mutex mutex_;  ///< guards status_
  Status status_;
};

}  // namespace spintag::daemon
