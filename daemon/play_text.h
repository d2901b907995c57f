// daemon/play_text.h - a play as a CSV row, a JSON line and a line of a table.
#pragma once

#include <string>
#include <string_view>

#include "db/store.h"

namespace spintag::daemon {

/// Column names of play_csv(), RFC 4180, without a line end.
inline constexpr std::string_view kPlayCsvHeader =
    "play_id,station,started_at,ended_at,played_s,track_id,title,artist,album,isrc,label,"
    "confidence,speed,method,"
    "stream_title";

/// Times in UTC; a play without an end has empty ended_at and played_s; several ISRCs are separated
/// by ';'.
std::string play_csv(const db::Play& play);

/// One object with the names of kPlayCsvHeader; "isrc" is an array; ended_at and played_s of a play
/// without an end are null.
std::string play_json_line(const db::Play& play);

/// Start, length, station, artist and title for a terminal.
std::string play_row(const db::Play& play);

}  // namespace spintag::daemon
