// daemon/web/now_playing.cpp - what is on air, as JSON with AzuraCast's field names.
#include "daemon/web/now_playing.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "daemon/events.h"
#include "daemon/rfc3339.h"

namespace spintag::daemon {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t unix_seconds(db::TimePoint time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

Json song_json(const db::Play& play, const ShownSong& song) {
  const bool both = !song.artist.empty() && !song.title.empty();
  return {{"id", std::to_string(play.track_id)},
          {"text", song.artist + (both ? " - " : "") + song.title},
          {"artist", song.artist},
          {"title", song.title},
          {"album", song.album},
          {"isrc", song.isrc}};
}

Json current(const db::Play& play, db::TimePoint now) {
  const ShownSong song = song_of(play);
  const double elapsed =
      std::max(0.0, std::chrono::duration<double>(now - play.started_at).count());
  const double left = std::max(0.0, song.duration_s - play.track_start_s - elapsed);
  return {{"sh_id", play.play_id},
          {"played_at", unix_seconds(play.started_at)},
          {"duration", std::llround(song.duration_s)},
          {"elapsed", static_cast<std::int64_t>(elapsed)},
          {"remaining", std::llround(left)},
          {"song", song_json(play, song)}};
}

Json past(const db::Play& play) {
  const ShownSong song = song_of(play);
  return {{"sh_id", play.play_id},
          {"played_at", unix_seconds(play.started_at)},
          {"duration", std::llround(song.duration_s)},
          {"song", song_json(play, song)}};
}

Json station_json(const StationStatus& station, std::size_t id, db::TimePoint now) {
  Json playing;
  Json confidence;
  if (station.now_playing) {
    playing = current(*station.now_playing, now);
    confidence = station.now_playing->confidence;
  }
  Json history = Json::array();
  for (const db::Play& play : station.history) history.push_back(past(play));
  Json melody;
  if (station.melody) melody = Json::parse(guess_json(*station.melody), nullptr, false);
  Json heard;
  if (station.last_samples_at) heard = unix_seconds(*station.last_samples_at);
  return {{"station", {{"id", id}, {"name", station.title}, {"shortcode", station.name}}},
          {"is_online", station.stream == StreamState::connected},
          {"now_playing", playing},
          {"playing_next", nullptr},
          {"song_history", history},
          {"spintag",
           {{"stream", to_string(station.stream)},
            {"problem", station.problem},
            {"label", station.label},
            {"melody", melody},
            {"last_samples_at", heard},
            {"confidence", confidence},
            {"tags", station.counters.tags}}}};
}

}  // namespace

ShownSong song_of(const db::Play& play) {
  const Json stored = Json::parse(play.track_json, nullptr, false);
  ShownSong song;
  if (!stored.is_object()) return song;
  const auto text = [](const Json& from, const char* key) {
    const auto found = from.find(key);
    return found != from.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  song.title = text(stored, "title");
  song.artist = text(stored, "artist");
  song.album = text(stored, "album");
  const auto isrcs = stored.find("isrc");
  if (isrcs != stored.end() && isrcs->is_array() && !isrcs->empty() && isrcs->front().is_string()) {
    song.isrc = isrcs->front().get<std::string>();
  }
  const auto duration = stored.find("duration_s");
  if (duration != stored.end() && duration->is_number()) song.duration_s = duration->get<double>();
  return song;
}

std::string now_playing_json(const Status& status, db::TimePoint now) {
  Json all = Json::array();
  for (std::size_t i = 0; i < status.stations.size(); ++i) {
    all.push_back(station_json(status.stations[i], i + 1, now));
  }
  return text_of(all);
}

std::optional<std::string> now_playing_json(const Status& status, const std::string& station,
                                            db::TimePoint now) {
  const auto found = std::ranges::find(status.stations, station, &StationStatus::name);
  if (found == status.stations.end()) return std::nullopt;
  const auto id = static_cast<std::size_t>(found - status.stations.begin()) + 1;
  return text_of(station_json(*found, id, now));
}

}  // namespace spintag::daemon
