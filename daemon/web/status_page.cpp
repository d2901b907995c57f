// daemon/web/status_page.cpp - the status page.
#include "daemon/web/status_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "daemon/rfc3339.h"
#include "daemon/web/now_playing.h"
#include "daemon/web/page_assets.h"

namespace spintag::daemon {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string hour_utc(db::TimePoint time) { return to_rfc3339(time).substr(11, 5); }

std::string minutes(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string idle_text(const StationStatus& station) {
  if (station.stream != StreamState::connected) return "No stream";
  if (station.label == "silence") return "Silence";
  if (station.label == "speech") return "Speech";
  if (station.label == "music") return "Music that is not in the catalogue";
  return "Listening…";
}

std::string joined(const std::string& a, const std::string& b, const char* between) {
  return a.empty() || b.empty() ? a + b : a + between + b;
}

/// What unknown music may be.
std::string melody_text(const StationStatus& station) {
  if (!station.melody) return {};
  db::Play play;
  play.track_json = station.melody->track_json;
  const ShownSong song = song_of(play);
  return "perhaps " + joined(song.artist, song.title, " - ") + ", by its melody";
}

const char* dot_of(StreamState state) {
  if (state == StreamState::connected) return "good";
  return state == StreamState::lost ? "bad" : "";
}

void write_on_air(Out out, const StationStatus& station, db::TimePoint now) {
  if (!station.now_playing) {
    fmt::format_to(out,
                   "<p class=\"title\">{}</p><p class=\"artist\">{}</p><progress hidden></progress>"
                   "<p class=\"clock\"></p>",
                   idle_text(station),
                   html_escaped(joined(station.problem, melody_text(station), " · ")));
    return;
  }
  const db::Play& play = *station.now_playing;
  const ShownSong song = song_of(play);
  const double elapsed =
      std::max(0.0, std::chrono::duration<double>(now - play.started_at).count());
  const double length = std::max(1.0, song.duration_s);
  fmt::format_to(out,
                 "<p class=\"title\">{}</p><p class=\"artist\">{}</p>"
                 "<progress value=\"{:.0f}\" max=\"{:.0f}\"></progress>"
                 "<p class=\"clock\">since {} UTC, {} of {}</p>",
                 song.title.empty() ? "Untitled" : html_escaped(song.title),
                 html_escaped(joined(song.artist, song.album, " · ")),
                 std::min(elapsed + play.track_start_s, length), length, hour_utc(play.started_at),
                 minutes(elapsed), minutes(song.duration_s));
}

void write_history(Out out, const StationStatus& station) {
  fmt::format_to(out, "<h3>Before</h3><ol>");
  for (const db::Play& play : station.history) {
    const ShownSong song = song_of(play);
    const std::string text = html_escaped(joined(song.artist, song.title, " - "));
    fmt::format_to(out, "<li><time>{}</time><span title=\"{}\">{}</span></li>",
                   hour_utc(play.started_at), text, text.empty() ? "Untitled" : text);
  }
  fmt::format_to(out, "</ol>");
}

void write_station(Out out, const StationStatus& station, db::TimePoint now) {
  fmt::format_to(out,
                 "<section id=\"station-{}\"><div><h2>{}</h2>"
                 "<span class=\"stream dot {}\" title=\"{}\">{}</span></div>",
                 html_escaped(station.name), html_escaped(station.title), dot_of(station.stream),
                 html_escaped(station.problem), to_string(station.stream));
  write_on_air(out, station, now);
  write_history(out, station);
  fmt::format_to(out, "</section>\n");
}

void write_health(Out out, const Status& status) {
  const auto item = [&out](const char* id, const char* state, const std::string& text) {
    fmt::format_to(out, "<li id=\"{}\" class=\"dot {}\">{}</li>", id, state, text);
  };
  const db::OutboxCounts& outbox = status.outbox;
  fmt::format_to(out, "<ul class=\"health\">");
  item("index", status.index_loaded ? "good" : "",
       status.index_loaded ? fmt::format("{} tracks", status.index_tracks)
                           : "loading the catalogue");
  item("database", status.database_up ? "good" : "bad",
       status.database_up ? "database" : "database away");
  item("device", status.device_failures > 0 ? "bad" : "good", html_escaped(status.device));
  item("outbox", outbox.dead > 0 ? "bad" : "good",
       fmt::format("{} events waiting{}", outbox.waiting,
                   outbox.dead > 0 ? fmt::format(", {} given up", outbox.dead) : ""));
  fmt::format_to(out, "<li id=\"page\" class=\"dot\" hidden>live</li></ul>");
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string status_page(const Status& status, db::TimePoint now) {
  std::string page;
  const Out out(page);
  fmt::format_to(
      out,
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>spintag</title>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<link rel=\"icon\" href=\"data:,\"><style>{}</style></head><body>"
      "<header><h1>spintag</h1>",
      kPageStyle);
  write_health(out, status);
  fmt::format_to(out, "</header><main>\n");
  for (const StationStatus& station : status.stations) write_station(out, station, now);
  if (status.stations.empty()) {
    fmt::format_to(out, "<p>No station is configured: add a [[station]] to spintag.toml.</p>");
  }
  fmt::format_to(out,
                 "</main><footer>spintag {} · <a href=\"/api/nowplaying\">now playing</a> · "
                 "<a href=\"/metrics\">metrics</a> · <a href=\"/readyz\">readiness</a></footer>"
                 "<script>{}</script></body></html>\n",
                 SPINTAG_VERSION, kPageScript);
  return page;
}

}  // namespace spintag::daemon
