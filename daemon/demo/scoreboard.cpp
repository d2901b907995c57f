// daemon/demo/scoreboard.cpp - what was played against what was recognised.
#include "daemon/demo/scoreboard.h"

#include <algorithm>

namespace spintag::daemon {

void Scoreboard::aired(const std::string& name, double began_s, double heard_s) {
  airings_.push_back({name, began_s, heard_s, std::nullopt});
}

std::optional<double> Scoreboard::tagged(const std::string& name, double at_s) {
  for (Airing& airing : airings_) {
    const double delay_s = at_s - airing.began_s;
    if (airing.name != name || airing.delay_s || delay_s < 0 ||
        delay_s > airing.heard_s + kGrace_s) {
      continue;
    }
    airing.delay_s = delay_s;
    return delay_s;
  }
  wrong_names_.push_back(name);
  return std::nullopt;
}

Scoreboard::Result Scoreboard::result(double now_s) const {
  Result result;
  std::vector<double> delays;
  for (const Airing& airing : airings_) {
    if (airing.delay_s) delays.push_back(*airing.delay_s);
    if (!airing.delay_s && std::min(now_s - airing.began_s, airing.heard_s) < kFairChance_s) {
      ++result.early;
      continue;
    }
    ++result.played;
    if (airing.delay_s) {
      ++result.recognised;
    } else {
      result.missed.push_back(airing.name);
    }
  }
  std::sort(delays.begin(), delays.end());
  if (!delays.empty()) {
    const std::size_t middle = delays.size() / 2;
    result.median_delay_s =
        delays.size() % 2 == 1 ? delays[middle] : (delays[middle - 1] + delays[middle]) / 2;
  }
  result.wrong = wrong_names_.size();
  result.wrong_names = wrong_names_;
  return result;
}

}  // namespace spintag::daemon
