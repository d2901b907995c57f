// daemon/play_text.cpp - a play as a CSV row, a JSON line and a line of a table.
#include "daemon/play_text.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "daemon/csv.h"
#include "daemon/json_text.h"
#include "daemon/rfc3339.h"
#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

using Json = nlohmann::ordered_json;

// What the play row kept of its track.
struct PlayedTrack {
  std::string title;
  std::string artist;
  std::string album;
  std::string label;
  std::vector<std::string> isrcs;
};

std::string text_of(const Json& track, const char* key) {
  const auto found = track.find(key);
  return found != track.end() && found->is_string() ? found->get<std::string>() : std::string();
}

PlayedTrack track_of(const db::Play& play) {
  Json track = Json::parse(play.track_json, nullptr, false);
  if (!track.is_object()) track = Json::object();
  PlayedTrack played{text_of(track, "title"),
                     text_of(track, "artist"),
                     text_of(track, "album"),
                     text_of(track, "label"),
                     {}};
  if (const auto isrcs = track.find("isrc"); isrcs != track.end() && isrcs->is_array()) {
    for (const Json& isrc : *isrcs) {
      if (isrc.is_string()) played.isrcs.push_back(isrc.get<std::string>());
    }
  }
  return played;
}

std::optional<double> played_s(const db::Play& play) {
  if (!play.ended_at) return std::nullopt;
  return round_to_ms(std::chrono::duration<double>(*play.ended_at - play.started_at).count());
}

std::string number(double value) { return Json(value).dump(); }

}  // namespace

std::string play_csv(const db::Play& play) {
  const PlayedTrack track = track_of(play);
  std::string isrcs;
  for (const std::string& isrc : track.isrcs) isrcs += (isrcs.empty() ? "" : ";") + isrc;
  const auto played = played_s(play);
  std::string row;
  for (const std::string& field :
       {std::to_string(play.play_id), play.station, to_rfc3339(play.started_at),
        play.ended_at ? to_rfc3339(*play.ended_at) : std::string(),
        played ? number(*played) : std::string(), std::to_string(play.track_id), track.title,
        track.artist, track.album, isrcs, track.label, number(play.confidence), number(play.speed),
        play.method, play.stream_title}) {
    row += csv_field(field) + ",";
  }
  row.pop_back();
  return row;
}

std::string play_json_line(const db::Play& play) {
  const PlayedTrack track = track_of(play);
  const auto played = played_s(play);
  return json_text({{"play_id", play.play_id},
                    {"station", play.station},
                    {"started_at", to_rfc3339(play.started_at)},
                    {"ended_at", play.ended_at ? Json(to_rfc3339(*play.ended_at)) : Json(nullptr)},
                    {"played_s", played ? Json(*played) : Json(nullptr)},
                    {"track_id", play.track_id},
                    {"title", track.title},
                    {"artist", track.artist},
                    {"album", track.album},
                    {"isrc", track.isrcs},
                    {"label", track.label},
                    {"confidence", play.confidence},
                    {"speed", play.speed},
                    {"method", play.method},
                    {"stream_title", play.stream_title}});
}

std::string play_row(const db::Play& play) {
  const PlayedTrack track = track_of(play);
  const auto played = played_s(play);
  const auto column = [](std::string text, std::size_t columns) {
    if (text.size() < columns) text.append(columns - text.size(), ' ');
    return text + "  ";
  };
  const std::string who = track.artist.empty() ? "" : track.artist + " - ";
  return column(to_rfc3339(play.started_at), 24) +
         column(played ? duration_text(*played) : "on air", 8) + column(play.station, 12) + who +
         track.title;
}

}  // namespace spintag::daemon
