// daemon/log_entry_text.cpp - a LogEntry as one line of JSON.
#include "daemon/log_entry_text.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

namespace spintag::daemon {

namespace {

using nlohmann::json;

// Microseconds since 1970: a play is found again by its exact start.
json micros(db::TimePoint time) { return time.time_since_epoch().count(); }

json micros(const std::optional<db::TimePoint>& time) {
  return time ? micros(*time) : json(nullptr);
}

db::TimePoint time_of(const json& value) {
  return db::TimePoint(std::chrono::microseconds(value.get<std::int64_t>()));
}

std::optional<db::TimePoint> optional_time_of(const json& value) {
  if (value.is_null()) return std::nullopt;
  return time_of(value);
}

json play_json(const db::Play& play) {
  return {{"station", play.station},
          {"track_id", play.track_id},
          {"started_at", micros(play.started_at)},
          {"ended_at", micros(play.ended_at)},
          {"detected_at", micros(play.detected_at)},
          {"track_start_s", play.track_start_s},
          {"confidence", play.confidence},
          {"score", play.score},
          {"speed", play.speed},
          {"pitch", play.pitch},
          {"method", play.method},
          {"stream_title", play.stream_title},
          {"time_accuracy_s", play.time_accuracy_s},
          {"track", play.track_json}};
}

db::Play play_of(const json& value) {
  db::Play play;
  play.station = value.at("station");
  play.track_id = value.at("track_id");
  play.started_at = time_of(value.at("started_at"));
  play.ended_at = optional_time_of(value.at("ended_at"));
  play.detected_at = time_of(value.at("detected_at"));
  play.track_start_s = value.at("track_start_s");
  play.confidence = value.at("confidence");
  play.score = value.at("score");
  play.speed = value.at("speed");
  play.pitch = value.at("pitch");
  play.method = value.at("method");
  play.stream_title = value.at("stream_title");
  play.time_accuracy_s = value.at("time_accuracy_s");
  play.track_json = value.at("track");
  return play;
}

json melody_json(const MelodyNews& news) {
  return {{"track_id", news.track_id}, {"track", news.track_json},
          {"speed", news.speed},       {"confidence", news.confidence},
          {"pitch", news.pitch},       {"detected_at", micros(news.detected_at)}};
}

MelodyNews melody_of(const json& value) {
  MelodyNews news;
  news.track_id = value.at("track_id");
  news.track_json = value.at("track");
  news.confidence = value.at("confidence");
  news.speed = value.at("speed");
  news.pitch = value.at("pitch");
  news.detected_at = time_of(value.at("detected_at"));
  return news;
}

bool is_segment(LogEntry::What what) {
  return what == LogEntry::What::segment_began || what == LogEntry::What::segment_ended ||
         what == LogEntry::What::segment_guessed;
}

}  // namespace

std::string to_text(const LogEntry& entry) {
  json value = {{"what", static_cast<int>(entry.what)}, {"at", micros(entry.at)}};
  if (is_segment(entry.what)) {
    value["segment"] = {{"station", entry.segment.station},
                        {"kind", entry.segment.kind},
                        {"started_at", micros(entry.segment.started_at)},
                        {"ended_at", micros(entry.segment.ended_at)}};
  } else {
    value["play"] = play_json(entry.play);
  }
  if (entry.what == LogEntry::What::segment_guessed) value["melody"] = melody_json(entry.melody);
  if (entry.what == LogEntry::What::play_renamed) {
    value["before_track_id"] = entry.before_track_id;
    value["before_started_at"] = micros(entry.before_started_at);
  }
  // A stream title may be any bytes.
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

LogEntry from_text(const std::string& text) {
  try {
    const json value = json::parse(text);
    LogEntry entry;
    const int what = value.at("what");
    if (what < 0 || what > static_cast<int>(LogEntry::What::segment_guessed)) {
      throw std::invalid_argument("unknown kind of log entry " + std::to_string(what));
    }
    entry.what = static_cast<LogEntry::What>(what);
    entry.at = time_of(value.at("at"));
    if (is_segment(entry.what)) {
      const json& segment = value.at("segment");
      entry.segment.station = segment.at("station");
      entry.segment.kind = segment.at("kind");
      entry.segment.started_at = time_of(segment.at("started_at"));
      entry.segment.ended_at = optional_time_of(segment.at("ended_at"));
    } else {
      entry.play = play_of(value.at("play"));
    }
    if (entry.what == LogEntry::What::segment_guessed) entry.melody = melody_of(value.at("melody"));
    if (entry.what == LogEntry::What::play_renamed) {
      entry.before_track_id = value.at("before_track_id");
      entry.before_started_at = time_of(value.at("before_started_at"));
    }
    return entry;
  } catch (const json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace spintag::daemon
