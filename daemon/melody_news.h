// daemon/melody_news.h - what is told of unknown music whose melody is known.
#pragma once

#include <cstdint>
#include <string>

#include "db/store.h"

namespace spintag::daemon {

/// A track whose melody unknown music plays, most likely. Never a play: it is another performance.
struct MelodyNews {
  std::int64_t track_id = 0;
  std::string track_json = "{}";  ///< the track as events have it
  double confidence = 0;          ///< that it is this melody
  double speed = 1;               ///< tempo of what is heard over the track's
  double pitch = 1;               ///< pitch ratio, octaves apart
  db::TimePoint detected_at{};
};

}  // namespace spintag::daemon
