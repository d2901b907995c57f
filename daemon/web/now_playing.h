// daemon/web/now_playing.h - what is on air, as JSON with AzuraCast's field names, so that players
// and widgets know it.
#pragma once

#include <optional>
#include <string>

#include "daemon/status_board.h"

namespace spintag::daemon {

/// All stations, an array. Each: station{id,name,shortcode}, is_online,
/// now_playing{sh_id,played_at,duration,elapsed, remaining,song{id,text,artist,title,album,isrc}}
/// or null, playing_next (always null), song_history[]{sh_id,played_at, duration,song}, and
/// spintag{stream,problem,label,melody,last_samples_at,confidence,tags}; melody is null, or what
/// unknown music plays, as guess_json() has it. Times are seconds since 1970.
std::string now_playing_json(const Status& status, db::TimePoint now);

/// One station, an object; nothing if there is none of that name.
std::optional<std::string> now_playing_json(const Status& status, const std::string& station,
                                            db::TimePoint now);

/// The fields of Play::track_json that people see; empty or 0 where it has none.
struct ShownSong {
  std::string title;
  std::string artist;
  std::string album;
  std::string isrc;  ///< the first
  double duration_s = 0;
};
ShownSong song_of(const db::Play& play);

}  // namespace spintag::daemon
