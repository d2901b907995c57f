// daemon/events.h - the events that sinks receive: their JSON bodies, and which sink gets which.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "daemon/melody_news.h"
#include "daemon/rfc3339.h"
#include "db/store.h"

namespace spintag::daemon {

/// Every event type, as `events` in a [[sink]] names them.
inline constexpr std::string_view kTrackStarted = "track.started";      ///< state
inline constexpr std::string_view kTrackEnded = "track.ended";          ///< log
inline constexpr std::string_view kTrackCorrected = "track.corrected";  ///< log
inline constexpr std::string_view kStreamSilence = "stream.silence";    ///< state, as all below
inline constexpr std::string_view kStreamLost = "stream.lost";
inline constexpr std::string_view kStreamRecovered = "stream.recovered";
inline constexpr std::string_view kSegmentUnknown = "segment.unknown";

/// The track as an event and a play row keep it:
/// {"track_id","title","artist","album","isrc":[],"label", "recording_mbid","duration_s"}. What
/// Play::track_json holds.
std::string track_json(const db::Track& track);

/// The play as `data` of an event has it, a JSON object.
std::string play_data_json(const db::Play& play);

/// One OutboxEvent for each sink that wants this station and type; each has its own event_id. Meant
/// to be called by the function that Store::begin_play and update_play run inside their
/// transaction, so that play_id is known.
/// @param at  when the event happened: its timestamp and created_at
std::vector<db::OutboxEvent> make_track_started(const db::Play& play,
                                                std::span<const config::Sink> sinks,
                                                db::TimePoint at = utc_now());
std::vector<db::OutboxEvent> make_track_ended(const db::Play& play,
                                              std::span<const config::Sink> sinks,
                                              db::TimePoint at = utc_now());
std::vector<db::OutboxEvent> make_track_corrected(const db::Play& play,
                                                  std::span<const config::Sink> sinks,
                                                  db::TimePoint at = utc_now());

/// A state event about the stream itself: {"type","timestamp","data":{"station","started_at"}}.
/// @param type        kStreamSilence, kStreamLost, kStreamRecovered or kSegmentUnknown
/// @param started_at  when that state began
std::vector<db::OutboxEvent> make_stream_event(std::string_view type, const std::string& station,
                                               db::TimePoint started_at,
                                               std::span<const config::Sink> sinks,
                                               db::TimePoint at = utc_now());

/// segment.unknown once more, of music whose melody is known: its data has, beside those of
/// make_stream_event(), "guess":
/// {"track":{...},"detected_at","confidence","speed","pitch","method":"melody"}.
std::vector<db::OutboxEvent> make_melody_event(const std::string& station, db::TimePoint started_at,
                                               const MelodyNews& news,
                                               std::span<const config::Sink> sinks,
                                               db::TimePoint at = utc_now());

/// That guess, a JSON object.
std::string guess_json(const MelodyNews& news);

}  // namespace spintag::daemon
