// daemon/play_log.h - writes plays, segments and their events to the store, and keeps them on disk
// while the store is away.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "config/settings.h"
#include "daemon/melody_news.h"
#include "daemon/spool.h"
#include "daemon/status_board.h"
#include "db/store.h"

namespace spintag::daemon {

/// Something that happened on a station. A play is told apart by station, track and started_at, a
/// segment by station, kind and started_at: writing one twice finds the first.
struct LogEntry {
  enum class What {
    play_began,
    play_renamed,  ///< `play` is as it should be; `before` tells which one it was
    play_resumed,  ///< on air again
    play_ended,
    play_corrected,  ///< ended before, now with another end
    segment_began,
    segment_ended,
    segment_guessed,  ///< `melody` says what the unknown music of an open segment plays
  };
  What what = What::play_began;
  db::TimePoint at{};  ///< when it was decided
  db::Play play;
  std::int64_t before_track_id = 0;  ///< play_renamed
  db::TimePoint before_started_at{};
  db::Segment segment;
  MelodyNews melody;  ///< segment_guessed
};

struct PlayLogParams {
  std::size_t capacity = 10'000;  ///< entries; when full, stations wait: a play is never dropped
  std::chrono::milliseconds retry{5'000};      ///< between attempts to reach a store that is away
  std::chrono::milliseconds heartbeat{5'000};  ///< between writes of the on-air file
};

/// One thread ("play-log"), which may block on the database and the disk. While the database is
/// away every entry goes to the spool, and what people see (StatusBoard) goes on.
class PlayLog {
 public:
  /// Replays what an earlier process left in the spool, then starts.
  /// @param state_directory  gets the spool (plays.spool) and the on-air file (on-air.json)
  /// @param written          called after events were written, as to wake the delivery
  /// @throws SpoolError if the spool cannot be opened
  PlayLog(db::Store store, std::filesystem::path state_directory, std::vector<config::Sink> sinks,
          StatusBoard& board, std::function<void()> written, PlayLogParams params = {});
  ~PlayLog();  ///< writes or spools what is queued, then joins
  PlayLog(const PlayLog&) = delete;
  PlayLog& operator=(const PlayLog&) = delete;

  /// Any thread.
  void put(LogEntry entry);
  /// A play is still heard. Kept in the on-air file, so that a killed daemon knows until when.
  void heard(const db::Play& play, db::TimePoint until);

  /// What the on-air file of an earlier process says about a play. Before the stations start.
  std::optional<db::TimePoint> last_heard(const db::Play& play) const;
  /// When that process was last alive, to a heartbeat.
  std::optional<db::TimePoint> last_alive() const { return earlier_alive_; }

 private:
  /// What a play is called in the store and on the status board. They differ for a play that began
  /// while the store was away.
  struct Ids {
    std::int64_t stored = 0;  ///< 0 = not known
    std::int64_t shown = 0;
  };
  using PlayKey = std::tuple<std::string, db::TimePoint, std::int64_t>;  ///< station, start, track
  static PlayKey key_of(const db::Play& play);

  void work(const std::stop_token& stop);
  std::optional<LogEntry> next(const std::stop_token& stop);
  void handle(LogEntry& entry);
  void spool(const LogEntry& entry);
  bool try_store(const std::function<void()>& action);
  void look_after_store();
  void replay_spool();
  void apply(LogEntry& entry);
  void apply_play(LogEntry& entry);
  void apply_segment(LogEntry& entry);
  std::optional<db::Play> stored_play(const LogEntry& entry);
  void show(const LogEntry& entry);
  void write_heartbeat();
  void read_heartbeat();

  db::Store store_;  ///< of the thread, once it runs
  std::filesystem::path on_air_file_;
  Spool spool_;
  std::vector<config::Sink> sinks_;
  StatusBoard& board_;
  std::function<void()> written_;
  PlayLogParams params_;
  std::map<PlayKey, db::TimePoint> earlier_;  ///< on-air file as it was found
  std::optional<db::TimePoint> earlier_alive_;
  std::map<PlayKey, Ids> ids_;  ///< plays of the last hours
  bool store_up_ = true;
  std::int64_t next_shown_id_ = -1;  ///< for plays that the store has not numbered

  mutable std::mutex mutex_;  ///< guards queue_, heard_
  std::condition_variable_any changed_;
  std::condition_variable room_;
  std::deque<LogEntry> queue_;
  std::map<PlayKey, db::TimePoint> heard_;

  std::jthread thread_;
};

}  // namespace spintag::daemon
