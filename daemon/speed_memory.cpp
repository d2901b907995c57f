// daemon/speed_memory.cpp - the speeds at which a station plays its songs.
#include "daemon/speed_memory.h"

#include <algorithm>
#include <cmath>

namespace spintag::daemon {

using fingerprint::Hypothesis;

bool SpeedMemory::same(const Hypothesis& a, const Hypothesis& b) const {
  return std::abs(a.tempo - b.tempo) < params_.same_tempo &&
         std::abs(a.pitch - b.pitch) < params_.same_pitch;
}

void SpeedMemory::song_began(double tempo, double pitch) {
  settled_ = any_song_ && same({tempo, pitch}, newest_);
  any_song_ = true;
  newest_ = {tempo, pitch};
  heard(tempo, pitch);
}

void SpeedMemory::heard(double tempo, double pitch) {
  const Hypothesis speed{tempo, pitch};
  if (same(speed, {})) return;
  std::erase_if(speeds_, [&](const Hypothesis& known) { return same(speed, known); });
  speeds_.insert(speeds_.begin(), speed);
  if (speeds_.size() > params_.remembered) speeds_.resize(params_.remembered);
}

std::vector<Hypothesis> SpeedMemory::likely() const {
  std::vector<Hypothesis> speeds(1);
  speeds.insert(speeds.end(), speeds_.begin(), speeds_.end());
  return speeds;
}

bool SpeedMemory::wants_any(double now_s, double unknown_s) const {
  const double patience = settled_ ? params_.settled : 1;
  if (unknown_s < patience * params_.any_after_s) return false;
  const double every_s =
      std::clamp(params_.any_growth * unknown_s, params_.any_every_s, params_.any_rarest_s);
  return now_s - any_at_s_ >= patience * every_s;
}

}  // namespace spintag::daemon
