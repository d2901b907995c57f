// daemon/track_clock.h - an alignment as the clock of its track: a line that goes on beyond the
// window that it was measured in.
#pragma once

#include <cmath>

#include "fingerprint/matcher.h"

namespace spintag::daemon {

/// How far apart two alignments say the track's clock stands at one moment of the stream, seconds.
inline double clock_distance(const fingerprint::Alignment& a, const fingerprint::Alignment& b,
                             double at_s) {
  return std::abs(a.track_time(at_s) - b.track_time(at_s));
}

/// The same line, said over another window.
inline fingerprint::Alignment over(const fingerprint::Alignment& known, double start_s,
                                   double end_s) {
  fingerprint::Alignment moved = known;
  moved.track_start_s = known.track_time(start_s);
  moved.start_s = start_s;
  moved.end_s = end_s;
  return moved;
}

/// Stream time at which the track's own time 0 falls.
inline double zero_of(const fingerprint::Alignment& clock) {
  return clock.start_s - clock.track_start_s / clock.tempo;
}

/// Stream time at which the track ends.
inline double end_of(const fingerprint::Alignment& clock, double duration_s) {
  return clock.start_s + (duration_s - clock.track_start_s) / clock.tempo;
}

}  // namespace spintag::daemon
