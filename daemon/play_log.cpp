// daemon/play_log.cpp - writes plays, segments and their events to the store.
#include "daemon/play_log.h"

#include <spdlog/spdlog.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/events.h"
#include "daemon/log_entry_text.h"

namespace spintag::daemon {

namespace {

using What = LogEntry::What;

// A play may be asked for again (reopened, corrected) for some minutes after its end.
constexpr auto kIdsKept = std::chrono::hours(12);

bool is_segment(const LogEntry& entry) {
  return entry.what == What::segment_began || entry.what == What::segment_ended ||
         entry.what == What::segment_guessed;
}

}  // namespace

PlayLog::PlayLog(db::Store store, std::filesystem::path state_directory,
                 std::vector<config::Sink> sinks, StatusBoard& board, std::function<void()> written,
                 PlayLogParams params)
    : store_(std::move(store)),
      on_air_file_(state_directory / "on-air.json"),
      spool_(state_directory / "plays.spool"),
      sinks_(std::move(sinks)),
      board_(board),
      written_(std::move(written)),
      params_(params) {
  read_heartbeat();
  look_after_store();
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

PlayLog::~PlayLog() =
    default;  // the thread works off the queue and is joined first, being the last member

PlayLog::PlayKey PlayLog::key_of(const db::Play& play) {
  return {play.station, play.started_at, play.track_id};
}

void PlayLog::put(LogEntry entry) {
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return queue_.size() < params_.capacity; });
    queue_.push_back(std::move(entry));
  }
  changed_.notify_one();
}

void PlayLog::heard(const db::Play& play, db::TimePoint until) {
  const std::lock_guard lock(mutex_);
  heard_[key_of(play)] = until;
}

std::optional<db::TimePoint> PlayLog::last_heard(const db::Play& play) const {
  const auto found = earlier_.find(key_of(play));
  if (found == earlier_.end()) return std::nullopt;
  return found->second;
}

void PlayLog::work(const std::stop_token& stop) {
  auto last_look = std::chrono::steady_clock::now();
  auto last_heartbeat = last_look;
  for (;;) {
    if (auto entry = next(stop)) {
      handle(*entry);
    } else if (stop.stop_requested()) {
      break;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last_look >= params_.retry) {
      look_after_store();
      last_look = std::chrono::steady_clock::now();
    }
    if (now - last_heartbeat >= params_.heartbeat) {
      write_heartbeat();
      last_heartbeat = now;
    }
  }
  write_heartbeat();
}

std::optional<LogEntry> PlayLog::next(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto nap = std::min(params_.retry, params_.heartbeat);
  changed_.wait_for(lock, stop, nap, [&] { return !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  LogEntry entry = std::move(queue_.front());
  queue_.pop_front();
  if (entry.what == What::play_ended || entry.what == What::play_corrected) {
    heard_.erase(key_of(entry.play));
  } else if (entry.what == What::play_renamed) {
    heard_.erase({entry.play.station, entry.before_started_at, entry.before_track_id});
  }
  lock.unlock();
  room_.notify_all();
  return entry;
}

void PlayLog::handle(LogEntry& entry) {
  if (!is_segment(entry)) {
    if (entry.what == What::play_renamed) {
      const auto before =
          ids_.find({entry.play.station, entry.before_started_at, entry.before_track_id});
      if (before != ids_.end()) ids_[key_of(entry.play)] = before->second;
    }
    entry.play.play_id = ids_[key_of(entry.play)].stored;
  }
  // Order matters: what waits on disk goes first.
  bool stored = false;
  if (store_up_ && spool_.empty()) stored = try_store([&] { apply(entry); });
  if (!stored) spool(entry);
  if (!is_segment(entry)) show(entry);
  if (stored) written_();
}

void PlayLog::spool(const LogEntry& entry) {
  try {
    spool_.append(to_text(entry));
  } catch (const SpoolError& error) {
    spdlog::error("a play or segment is lost: {}", error.what());
  }
}

// True when the action is over: done, or refused for good.
bool PlayLog::try_store(const std::function<void()>& action) {
  try {
    action();
    if (!store_up_) spdlog::info("the database is back");
    store_up_ = true;
    board_.set_database(true);
    return true;
  } catch (const db::StoreError& error) {
    if (error.kind() == db::StoreError::Kind::refused) {
      spdlog::error("the database refused a play or segment: {}", error.what());
      return true;
    }
    if (store_up_) {
      spdlog::warn("the database is away, plays are kept on disk until it is back: {}",
                   error.what());
    }
    store_up_ = false;
    board_.set_database(false, error.what());
    return false;
  }
}

void PlayLog::look_after_store() {
  if (!try_store([&] { board_.set_outbox(store_.outbox_counts()); })) return;
  if (!spool_.empty()) replay_spool();
}

void PlayLog::replay_spool() {
  std::size_t count = 0;
  const std::size_t damaged_before = spool_.damaged();
  try {
    spool_.replay([&](const std::string& text) {
      LogEntry entry;
      try {
        entry = from_text(text);
      } catch (const std::invalid_argument& error) {
        spdlog::error("a record of the spool makes no sense and is left out: {}", error.what());
        return;
      }
      if (!try_store([&] { apply(entry); })) {
        throw db::StoreError(db::StoreError::Kind::unreachable, "the database went away again");
      }
      ++count;
    });
  } catch (const db::StoreError&) {
    // said by try_store; the rest waits
  } catch (const SpoolError& error) {
    spdlog::error("{}", error.what());
  }
  if (count > 0) {
    spdlog::info("wrote {} entries that were kept on disk to the database", count);
    written_();
  }
  if (spool_.damaged() > damaged_before) {
    spdlog::warn("{} damaged records of the spool were left out",
                 spool_.damaged() - damaged_before);
  }
}

void PlayLog::apply(LogEntry& entry) {
  if (is_segment(entry)) {
    apply_segment(entry);
  } else {
    apply_play(entry);
    Ids& ids = ids_[key_of(entry.play)];
    ids.stored = entry.play.play_id;
  }
}

// The row that an entry speaks of, if the store has it.
std::optional<db::Play> PlayLog::stored_play(const LogEntry& entry) {
  db::TimePoint started_at = entry.play.started_at;
  std::int64_t track_id = entry.play.track_id;
  if (entry.what == What::play_renamed) {
    started_at = entry.before_started_at;
    track_id = entry.before_track_id;
  }
  db::PlayFilter filter;
  filter.station = entry.play.station;
  filter.from = started_at - std::chrono::seconds(1);
  filter.to = started_at + std::chrono::seconds(1);
  for (const db::Play& play : store_.plays(filter)) {
    if (play.started_at == started_at && play.track_id == track_id) return play;
  }
  return std::nullopt;
}

void PlayLog::apply_play(LogEntry& entry) {
  db::Play& play = entry.play;
  const auto no_events = [](const db::Play&) { return std::vector<db::OutboxEvent>(); };
  const auto started = [&](const db::Play& stored) {
    return make_track_started(stored, sinks_, entry.at);
  };
  const auto closed = [&](const db::Play& stored) {
    return entry.what == What::play_corrected ? make_track_corrected(stored, sinks_, entry.at)
                                              : make_track_ended(stored, sinks_, entry.at);
  };
  if (entry.what == What::play_began) {
    if (const auto stored = stored_play(entry)) {
      play.play_id = stored->play_id;  // replayed twice
      return;
    }
    store_.begin_play(play, started);
    return;
  }
  const auto stored = stored_play(entry);
  if (stored) play.play_id = stored->play_id;
  switch (entry.what) {
    case What::play_renamed:
      if (stored) {
        store_.update_play(play, started);
      } else if (play.play_id == 0) {
        store_.begin_play(play, started);
      }
      break;
    case What::play_resumed:
      if (stored) store_.update_play(play, no_events);
      break;
    default:
      if (!stored) {
        store_.begin_play(play, closed);  // its beginning was lost with a full disk
      } else if (stored->ended_at != play.ended_at) {
        store_.update_play(play, closed);
      }
  }
}

void PlayLog::apply_segment(LogEntry& entry) {
  db::Segment& segment = entry.segment;
  if (entry.what == What::segment_guessed) {
    store_.put_events(
        make_melody_event(segment.station, segment.started_at, entry.melody, sinks_, entry.at));
    return;
  }
  std::string_view type = kSegmentUnknown;
  if (segment.kind == "silence") type = kStreamSilence;
  if (segment.kind == "lost") type = kStreamLost;

  db::PlayFilter filter;
  filter.station = segment.station;
  filter.from = segment.started_at - std::chrono::seconds(1);
  filter.to = segment.started_at + std::chrono::seconds(1);
  std::optional<db::Segment> stored;
  for (const db::Segment& other : store_.segments(filter)) {
    if (other.kind == segment.kind && other.started_at == segment.started_at) stored = other;
  }
  if (stored) segment.segment_id = stored->segment_id;
  if (entry.what == What::segment_began) {
    if (stored) return;
    store_.put_segment(
        segment, make_stream_event(type, segment.station, segment.started_at, sinks_, entry.at));
    return;
  }
  if (!stored) {
    store_.put_segment(segment, {});
  } else if (stored->ended_at != segment.ended_at) {
    store_.update_segment(segment);
  } else {
    return;
  }
  if (segment.kind == "lost" && segment.ended_at) {
    store_.put_events(
        make_stream_event(kStreamRecovered, segment.station, *segment.ended_at, sinks_, entry.at));
  }
}

void PlayLog::show(const LogEntry& entry) {
  std::erase_if(ids_, [&](const auto& item) {
    return std::get<1>(item.first) < entry.at - kIdsKept && item.first != key_of(entry.play);
  });
  Ids& ids = ids_[key_of(entry.play)];
  if (ids.shown == 0) ids.shown = ids.stored != 0 ? ids.stored : next_shown_id_--;
  db::Play play = entry.play;
  play.play_id = ids.shown;
  if (entry.what == What::play_ended || entry.what == What::play_corrected) {
    board_.play_ended(play);
  } else {
    board_.play_on_air(play);
  }
}

void PlayLog::write_heartbeat() {
  nlohmann::json lines = nlohmann::json::array();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, until] : heard_) {
      lines.push_back({std::get<0>(key), std::get<1>(key).time_since_epoch().count(),
                       std::get<2>(key), until.time_since_epoch().count()});
    }
  }
  // Renamed into place: a reader finds the old file or the new one. Not fsynced: after a power cut
  // a play may be closed some seconds early, and a disk that sleeps is left alone.
  const std::filesystem::path fresh = on_air_file_.string() + ".new";
  std::ofstream out(fresh, std::ios::trunc);
  out << nlohmann::json{{"alive", utc_now().time_since_epoch().count()}, {"plays", lines}} << '\n';
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(fresh, on_air_file_, error);
  if (!out || error) spdlog::warn("{}: cannot be written", on_air_file_.string());
}

void PlayLog::read_heartbeat() {
  std::ifstream in(on_air_file_);
  if (!in) return;
  try {
    const auto time = [](const nlohmann::json& value) {
      return db::TimePoint(std::chrono::microseconds(value.get<std::int64_t>()));
    };
    const nlohmann::json file = nlohmann::json::parse(in);
    earlier_alive_ = time(file.at("alive"));
    for (const auto& line : file.at("plays")) {
      earlier_[{line.at(0), time(line.at(1)), line.at(2)}] = time(line.at(3));
    }
  } catch (const nlohmann::json::exception& error) {
    spdlog::warn("{}: not readable, open plays will be closed where they were detected: {}",
                 on_air_file_.string(), error.what());
  }
}

}  // namespace spintag::daemon
