// daemon/track_text.cpp - a track and a place in it, for a log line.
#include "daemon/track_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace spintag::daemon {

std::string track_text(const std::string& track_json) {
  const auto track = nlohmann::json::parse(track_json, nullptr, false);
  if (!track.is_object()) return "unknown track";
  const auto text = [&](const char* key) {
    const auto found = track.find(key);
    return found != track.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string artist = text("artist");
  const std::string title = text("title");
  if (artist.empty() && title.empty()) {
    const auto id = track.find("track_id");
    return "track " + (id != track.end() ? id->dump() : "?");
  }
  if (artist.empty() || title.empty()) return artist + title;
  return artist + " - " + title;
}

std::string minutes_text(double seconds) {
  const auto whole = static_cast<long>(std::floor(std::max(0.0, seconds)));
  char text[32];
  std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  return text;
}

}  // namespace spintag::daemon
