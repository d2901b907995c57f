// daemon/station.h - one station: its stream, kept open for ever, and what is heard on it.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/settings.h"
#include "daemon/listener.h"
#include "daemon/live_index.h"
#include "daemon/match_service.h"
#include "daemon/play_log.h"
#include "daemon/sample_clock.h"
#include "daemon/status_board.h"
#include "daemon/tune_desk.h"
#include "daemon/tune_listener.h"

namespace spintag::daemon {

struct StationParams {
  ListenerParams listener;
  TuneListenerParams tunes;
  std::chrono::milliseconds first_retry{1'000};  ///< doubled at each failure ...
  std::chrono::milliseconds longest_retry{60'000};
  double retry_jitter = 0.2;           ///< so that many stations do not come back at one moment
  std::chrono::seconds healthy{10};    ///< so much audio makes the next retry the first one again
  std::chrono::seconds tell_lost{5};   ///< shorter interruptions are counted, not told
  std::chrono::seconds end_plays{30};  ///< lost for so long: what was on air has ended
  std::chrono::seconds heartbeat{5};   ///< between reports that a play is still heard
  double greatest_lag_s = 10;  ///< further behind the stream, windows are not searched but followed
};

/// What all stations share. Must outlive them.
struct StationContext {
  const LiveIndex& index;
  MatchService& matching;
  PlayLog& log;
  StatusBoard& board;
  TuneDesk* tunes = nullptr;  ///< null = unknown music is not compared with melodies
};

/// One thread ("st-NAME"): libav (network, with deadlines), decoding, peaks, matching and tracking
/// in sequence. Input that comes faster than real time is slowed down by that work, never dropped.
class Station {
 public:
  /// Starts at once.
  /// @param open  plays of this station that an earlier process left open, with the time until
  /// which
  ///              each was heard
  Station(config::Station settings, StationContext context,
          std::vector<std::pair<db::Play, db::TimePoint>> open, StationParams params = {});
  ~Station();  ///< ends what is on air, and joins
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  /// Begins to stop without waiting. Any thread.
  void request_stop() { thread_.request_stop(); }

  /// When its thread last came round. It does so at least every 20 s, whatever the stream does. Any
  /// thread.
  std::chrono::steady_clock::time_point last_progress() const { return progress_.load(); }
  const std::string& name() const { return settings_.name; }

 private:
  void work(const std::stop_token& stop);
  std::string listen(const std::stop_token& stop);
  void take(std::span<const float> samples);
  void came_back(double first_samples_s);
  void expect_open_plays();
  void lost(const std::string& problem);
  void while_lost();
  void found_again();
  void end_lost_segment();
  bool pause(const std::stop_token& stop, std::chrono::milliseconds time);
  void handle(const Findings& findings);
  void handle_spin(const SpinEvent& event);
  void handle_segment(const SegmentEdge& edge);
  UnknownMusic unknown_music() const;
  void tell_melody(const TuneGuess& guess);
  void fill(db::Play& play, const Spin& spin) const;
  void say(const SpinEvent& event, const db::Play& play) const;
  void report();
  void progress() { progress_.store(std::chrono::steady_clock::now()); }

  config::Station settings_;
  StationContext context_;
  StationParams params_;
  std::vector<std::pair<db::Play, db::TimePoint>> open_;
  Listener listener_;
  SampleClock clock_;
  StationCounters counters_;
  std::uint64_t damaged_before_ = 0;  ///< of earlier connections
  bool connected_ = false;
  bool ever_connected_ = false;
  std::string problem_;       ///< as last logged
  std::string stream_title_;  ///< the encoder's newest hint
  db::TimePoint lost_since_{};
  bool lost_told_ = false;
  bool plays_ended_ = false;
  std::map<std::uint64_t, db::Play> plays_;  ///< by spin_id, the newest ones
  std::optional<db::Segment> segment_;       ///< open, of the listener
  double segment_start_s_ = 0;               ///< of segment_, on the stream's clock
  TuneListener tunes_;
  std::optional<db::Segment> lost_segment_;  ///< open
  std::chrono::steady_clock::time_point last_heartbeat_{};
  std::atomic<std::chrono::steady_clock::time_point> progress_;
  std::jthread thread_;
};

}  // namespace spintag::daemon
