// daemon/speed_memory.h - the speeds at which a station plays its songs, and how often it is worth
// looking for another one.
#pragma once

#include <cstddef>
#include <vector>

#include "fingerprint/matcher.h"

namespace spintag::daemon {

/// Every number of it, with its reason.
struct SpeedParams {
  std::size_t remembered = 2;  ///< beside the true speed; each costs a search of its own
  /// Speeds nearer than this are one: a search reaches 1.2 % of tempo and 0.7 % of pitch around.
  double same_tempo = 0.006;
  double same_pitch = 0.004;

  // Looking for any speed takes ten times as long as looking for a few.
  double any_after_s = 7;    ///< of music that no likely speed explains
  double any_every_s = 5;    ///< a song at a new speed is on air for some seconds: look again ...
  double any_growth = 0.5;   ///< ... after so much of the time for which it has been unknown ...
  double any_rarest_s = 20;  ///< ... but after so long in any case
  double settled = 2;        ///< a station that keeps its speed waits so many times longer
};

/// Cart machines and pitch-shifted streams keep a speed for months, DJs do not: the newest speeds
/// are likely, and the true one always is. Single-threaded, one per stream.
class SpeedMemory {
 public:
  explicit SpeedMemory(const SpeedParams& params = {}) : params_(params) {}

  /// A song of this speed is on air now.
  void song_began(double tempo, double pitch);
  /// Says better what the speed is, or adds one that is likely.
  void heard(double tempo, double pitch);

  /// The speeds to look for first.
  std::vector<fingerprint::Hypothesis> likely() const;

  /// Whether it is time to look for any speed, once all likely ones have found nothing.
  /// @param unknown_s  for how long nothing has been known
  bool wants_any(double now_s, double unknown_s) const;
  void looked_for_any(double now_s) { any_at_s_ = now_s; }

 private:
  bool same(const fingerprint::Hypothesis& a, const fingerprint::Hypothesis& b) const;

  SpeedParams params_;
  std::vector<fingerprint::Hypothesis> speeds_;  ///< beside the true one, the newest first
  fingerprint::Hypothesis newest_;
  bool settled_ = false;  ///< the newest two songs had one speed
  bool any_song_ = false;
  double any_at_s_ = -1e9;
};

}  // namespace spintag::daemon
