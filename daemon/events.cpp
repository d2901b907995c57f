// daemon/events.cpp - the bodies of events, and which sink gets which.
#include "daemon/events.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace spintag::daemon {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the documentation

double rounded(double value, double steps) {
  return std::isfinite(value) ? std::round(value * steps) / steps : 0.0;
}

std::string text_of(const Json& json) {
  // Tags are what files contain: a byte that is no UTF-8 becomes U+FFFD and never stops an event.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// 128 random bits: never the same twice, and says nothing about the station.
std::string new_event_id() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw std::runtime_error("no random bytes for an event id");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id = "msg_";
  for (const unsigned char byte : bytes) {
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

bool wants(const config::Sink& sink, std::string_view type, const std::string& station) {
  const auto names = [](const std::vector<std::string>& list, std::string_view one) {
    return list.empty() || std::ranges::find(list, one) != list.end();
  };
  return names(sink.events, type) && names(sink.stations, station);
}

std::vector<db::OutboxEvent> for_sinks(std::string_view type, bool is_log,
                                       const std::string& station, const Json& data,
                                       std::span<const config::Sink> sinks, db::TimePoint at) {
  const std::string body = text_of({{"type", type}, {"timestamp", to_rfc3339(at)}, {"data", data}});
  std::vector<db::OutboxEvent> events;
  for (const config::Sink& sink : sinks) {
    if (!wants(sink, type, station)) continue;
    db::OutboxEvent event;
    event.event_id = new_event_id();
    event.station = station;
    event.sink = sink.name;
    event.type = type;
    event.is_log = is_log;
    event.body = body;
    event.created_at = at;
    events.push_back(std::move(event));
  }
  return events;
}

/// Every field of a track, in order, whatever the stored text lacks.
Json track_of(std::int64_t track_id, const std::string& track_json) {
  const Json stored = Json::parse(track_json, nullptr, false);
  const auto field = [&stored](const char* key, Json otherwise) {
    if (!stored.is_object()) return otherwise;
    const auto found = stored.find(key);
    return found == stored.end() || found->type() != otherwise.type() ? otherwise : *found;
  };
  const Json duration = stored.is_object() ? stored.value("duration_s", Json()) : Json();
  return {{"track_id", track_id},
          {"title", field("title", "")},
          {"artist", field("artist", "")},
          {"album", field("album", "")},
          {"isrc", field("isrc", Json::array())},
          {"label", field("label", "")},
          {"recording_mbid", field("recording_mbid", "")},
          {"duration_s", duration.is_number() ? duration : Json()}};
}

Json data_of(const db::Play& play) {
  Json ended;
  Json played;
  if (play.ended_at) {
    ended = to_rfc3339(*play.ended_at);
    played = rounded(std::chrono::duration<double>(*play.ended_at - play.started_at).count(), 1e3);
  }
  return {{"station", play.station},
          {"play_id", std::to_string(play.play_id)},
          {"track", track_of(play.track_id, play.track_json)},
          {"started_at", to_rfc3339(play.started_at)},
          {"ended_at", ended},
          {"detected_at", to_rfc3339(play.detected_at)},
          {"played_s", played},
          {"confidence", rounded(play.confidence, 1e6)},
          {"speed", rounded(play.speed, 1e4)},
          {"pitch", rounded(play.pitch, 1e4)},
          {"method", play.method}};
}

Json guess_of(const MelodyNews& news) {
  return {{"track", track_of(news.track_id, news.track_json)},
          {"detected_at", to_rfc3339(news.detected_at)},
          {"confidence", rounded(news.confidence, 1e6)},
          {"speed", rounded(news.speed, 1e4)},
          {"pitch", rounded(news.pitch, 1e4)},
          {"method", "melody"}};
}

}  // namespace

std::string track_json(const db::Track& track) {
  return text_of({{"track_id", track.track_id},
                  {"title", track.info.title},
                  {"artist", track.info.artist},
                  {"album", track.info.album},
                  {"isrc", track.info.isrcs},
                  {"label", track.info.label},
                  {"recording_mbid", track.info.recording_mbid},
                  {"duration_s", rounded(track.duration_s, 1e3)}});
}

std::string play_data_json(const db::Play& play) { return text_of(data_of(play)); }

std::vector<db::OutboxEvent> make_track_started(const db::Play& play,
                                                std::span<const config::Sink> sinks,
                                                db::TimePoint at) {
  return for_sinks(kTrackStarted, false, play.station, data_of(play), sinks, at);
}

std::vector<db::OutboxEvent> make_track_ended(const db::Play& play,
                                              std::span<const config::Sink> sinks,
                                              db::TimePoint at) {
  return for_sinks(kTrackEnded, true, play.station, data_of(play), sinks, at);
}

std::vector<db::OutboxEvent> make_track_corrected(const db::Play& play,
                                                  std::span<const config::Sink> sinks,
                                                  db::TimePoint at) {
  return for_sinks(kTrackCorrected, true, play.station, data_of(play), sinks, at);
}

std::vector<db::OutboxEvent> make_stream_event(std::string_view type, const std::string& station,
                                               db::TimePoint started_at,
                                               std::span<const config::Sink> sinks,
                                               db::TimePoint at) {
  const Json data = {{"station", station}, {"started_at", to_rfc3339(started_at)}};
  return for_sinks(type, false, station, data, sinks, at);
}

std::vector<db::OutboxEvent> make_melody_event(const std::string& station, db::TimePoint started_at,
                                               const MelodyNews& news,
                                               std::span<const config::Sink> sinks,
                                               db::TimePoint at) {
  const Json data = {
      {"station", station}, {"started_at", to_rfc3339(started_at)}, {"guess", guess_of(news)}};
  return for_sinks(kSegmentUnknown, false, station, data, sinks, at);
}

std::string guess_json(const MelodyNews& news) { return text_of(guess_of(news)); }

}  // namespace spintag::daemon
