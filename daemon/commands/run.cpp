// daemon/commands/run.cpp - `spintag run`: composes the daemon, and takes it apart again in the
// order of the data.
//
// Every thread of the daemon, and what it may block on:
//   main         waits for a signal and watches the others
//   signals      the pipe that a signal handler writes to (StopOnSignal)
//   st-NAME      one a station: its network stream (deadlines), a free matcher or the answer of
//                "match", the play log's room
//   match        where there is one, the CUDA device that it owns
//   melody       the database; of a low priority
//   play-log     the database, the disk (spool, on-air file)
//   index        the database, the disk (snapshot); a large merge has "index-build" threads of its
//                own, which wait for nothing
//   deliver-NAME one a sink: the database, the receiver (deadlines)
//   web          nothing: sockets and timers
//   web-plays    the database
// Queues: stations -> play-log, 10,000 entries, the station waits (a play is never dropped);
// stations -> match, one window each, the station waits; stations -> melody, one piece of unknown
// music in all, the station asks again later.
// Windows never pile up: a station that is more than 10 s behind its stream follows what it
// knows and leaves the search of those windows out, counted.
#include "daemon/commands/run.h"

#include <fcntl.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/delivery.h"
#include "daemon/device_backends.h"
#include "daemon/index_follower.h"
#include "daemon/live_index.h"
#include "daemon/match_service.h"
#include "daemon/notify.h"
#include "daemon/open_store.h"
#include "daemon/play_log.h"
#include "daemon/rfc3339.h"
#include "daemon/station.h"
#include "daemon/status_board.h"
#include "daemon/stop_on_signal.h"
#include "daemon/tune_desk.h"
#include "daemon/web.h"

namespace spintag::daemon {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(500);     // between looks at the others
constexpr auto kStuck = std::chrono::seconds(60);          // a station comes round every 20 s
constexpr auto kLastDeliveries = std::chrono::seconds(2);  // for what is due when stopping
constexpr auto kResumable = std::chrono::minutes(5);       // a song may still be on after a restart

// One daemon a state directory: two would write every play twice.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& directory) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    const std::filesystem::path file = directory / "run.lock";
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0) {
      throw config::ConfigError(file.string() + ": " + std::strerror(errno) +
                                " (set database.state_directory to a directory that this user may "
                                "write)");
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      throw config::ConfigError("another `spintag run` uses " + directory.string() +
                                " (stop it, or give this one its own database.state_directory)");
    }
  }
  ~RunLock() { ::close(descriptor_); }
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_ = -1;
};

using OpenPlays = std::vector<std::pair<db::Play, db::TimePoint>>;

// What a killed daemon left open. A play that may still be on is handed to its station; any other
// ended when it was last heard.
OpenPlays take_up_plays(db::Store& store, PlayLog& log, const std::string& station) {
  OpenPlays still_on;
  const db::TimePoint now = utc_now();
  for (db::Play& play : store.open_plays(station)) {
    const db::TimePoint heard = log.last_heard(play).value_or(
        std::clamp(play.detected_at, play.started_at, std::max(play.started_at, now)));
    if (now - heard < kResumable) {
      log.heard(play, heard);
      still_on.emplace_back(std::move(play), heard);
      continue;
    }
    LogEntry entry;
    entry.what = LogEntry::What::play_ended;
    entry.at = now;
    entry.play = std::move(play);
    entry.play.ended_at = std::max(entry.play.started_at, heard);
    log.put(std::move(entry));
  }
  return still_on;
}

void close_segments(db::Store& store, PlayLog& log, const std::string& station) {
  db::PlayFilter filter;
  filter.station = station;
  filter.limit = 100;
  for (db::Segment& segment : store.segments(filter)) {
    if (segment.ended_at) continue;
    segment.ended_at = std::max(segment.started_at, log.last_alive().value_or(segment.started_at));
    LogEntry entry;
    entry.what = LogEntry::What::segment_ended;
    entry.at = utc_now();
    entry.segment = std::move(segment);
    log.put(std::move(entry));
  }
}

bool all_stations_move(const std::vector<std::unique_ptr<Station>>& stations) {
  const auto now = Clock::now();
  return std::all_of(stations.begin(), stations.end(),
                     [&](const auto& station) { return now - station->last_progress() < kStuck; });
}

std::string summary(const Status& status) {
  const auto on_air = std::count_if(status.stations.begin(), status.stations.end(),
                                    [](const auto& s) { return s.now_playing.has_value(); });
  const auto lost = std::count_if(status.stations.begin(), status.stations.end(),
                                  [](const auto& s) { return s.stream == StreamState::lost; });
  std::string text = std::to_string(status.stations.size()) + " stations, " +
                     std::to_string(on_air) + " with a known song, " + std::to_string(lost) +
                     " without stream, " + std::to_string(status.index_tracks) + " tracks";
  if (!status.database_up) text += ", database away";
  if (status.device_failures > 0) text += ", " + status.device;
  return text;
}

// Until a signal. The watchdog is fed only while every station comes round.
void watch(const StopOnSignal& signals, const ServiceNotifier& notifier, const StatusBoard& board,
           const std::vector<std::unique_ptr<Station>>& stations) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  bool moved = true;
  std::string told;
  while (!signals.stop_requested()) {
    const bool move = all_stations_move(stations);
    if (move) notifier.watchdog();
    if (move != moved) {
      if (move) {
        spdlog::info("every station's thread moves again");
      } else {
        spdlog::error("a station's thread has not moved for {} s", kStuck.count());
      }
    }
    moved = move;
    if (notifier.enabled()) {
      if (std::string text = summary(board.snapshot()); text != told) {
        notifier.status(text);
        told = std::move(text);
      }
    }
    never.wait_for(lock, signals.token(), kLook, [] { return false; });
  }
}

// What was written last is sent now rather than at the next start.
void deliver_the_rest(DeliveryWorker& delivery, db::Store& store) {
  delivery.notify();
  const auto until = Clock::now() + kLastDeliveries;
  try {
    while (Clock::now() < until && store.outbox_counts().waiting > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  } catch (const db::StoreError&) {
    // The outbox keeps them.
  }
}

std::unique_ptr<WebServer> open_web(const config::Settings& settings, const std::string& url,
                                    const StatusBoard& board) {
  if (settings.web_listen.empty()) return nullptr;
  WebParams params;
  params.listen = settings.web_listen;
  params.token = settings.web_token;
  params.database_url = url;
  auto web = std::make_unique<WebServer>(params, board);
  spdlog::info("status page: http://{}:{}/",
               settings.web_listen.substr(0, settings.web_listen.rfind(':')), web->port());
  return web;
}

int run(const config::Settings& settings) {
  auto backend = open_match_backend(settings.device);
  const RunLock lock(state_directory(settings));
  StoreSite site(settings);
  db::Store store = site.open();
  StopOnSignal signals;
  const ServiceNotifier notifier;

  StatusBoard board(settings.stations);
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  MatchService matching(std::min(cores, settings.stations.size()), std::move(backend),
                        [&board] { board.device_failed(); });
  board.set_device(matching.device());
  const auto web = open_web(settings, site.url(), board);
  LiveIndex index(store, index_snapshot_file(settings));
  board.set_index(index.current()->track_count());
  board.set_database(true);
  matching.load(index.current());
  spdlog::info("{} tracks known, {:.1f} MiB in memory, device {}", index.current()->track_count(),
               static_cast<double>(index.current()->resident_bytes()) / (1 << 20),
               matching.device());

  DeliveryWorker delivery(site.url(), settings.sinks, board);
  {
    const IndexFollower follower(index, site.open(), board, [&site] { site.ensure_running(); });
    PlayLog log(site.open(), state_directory(settings), settings.sinks, board,
                [&delivery] { delivery.notify(); });
    std::optional<TuneDesk> tunes;
    if (settings.listen_for_melodies) tunes.emplace(site);
    StationParams params;
    params.tunes.min_confidence = settings.min_melody_confidence;
    params.listener.min_confidence = settings.min_confidence;
    std::vector<std::unique_ptr<Station>> stations;
    for (const config::Station& station : settings.stations) {
      close_segments(store, log, station.name);
      stations.push_back(std::make_unique<Station>(
          station, StationContext{index, matching, log, board, tunes ? &*tunes : nullptr},
          take_up_plays(store, log, station.name), params));
    }
    notifier.ready();
    spdlog::info("listening to {} stations", stations.size());
    watch(signals, notifier, board, stations);

    spdlog::info("stopping");
    notifier.stopping();
    for (auto& station : stations) station->request_stop();
    stations.clear();
  }
  deliver_the_rest(delivery, store);
  return kDone;
}

}  // namespace

int run_daemon(const CommonOptions& options) {
  const config::Loaded loaded = load_settings(options);
  if (loaded.settings.stations.empty()) {
    std::cerr << "spintag: no station is configured: add to "
              << (loaded.file.empty() ? "/etc/spintag/spintag.toml" : loaded.file.string())
              << "\n\n  [[station]]\n  name = \"wjrh\"\n  url = \"https://.../live.mp3\"\n\n";
    return kUsage;
  }
  try {
    return run(loaded.settings);
  } catch (const ListenError& error) {
    std::cerr << "spintag: " << error.what() << '\n';
    return kUsage;
  } catch (const SpoolError& error) {
    std::cerr << "spintag: " << error.what() << '\n';
    return kUsage;
  }
}

}  // namespace spintag::daemon
