// tests/unit/daemon/scripted_stream.h - a stream whose truth is known: what a matcher would say of
// songs that are on air by script.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "daemon/tracker.h"

namespace spintag::daemon {

/// A song on air. `strength` scales its evidence; while masked it leaves nearly none.
struct Airing {
  fingerprint::TrackId track_id = 0;
  double start_s = 0;
  double end_s = 0;
  double track_start_s = 0;
  double strength = 1;
  std::vector<std::pair<double, double>> masked = {};  ///< stream time under speech or drop-outs
  double speed = 1;                                    ///< of tempo and pitch

  double clock_at(double stream_s) const { return track_start_s + speed * (stream_s - start_s); }
};

class ScriptedStream final : public Recognition {
 public:
  static constexpr double kDuration = 200;        ///< of every track, seconds
  static constexpr double kPointsPerSecond = 12;  ///< score of a clear second
  static constexpr double kPointsPerNine = 6;     ///< score that makes confidence one nine surer
  static constexpr double kThreshold = 0.95;      ///< of a nomination
  static constexpr double kReach = 0.007;         ///< of a search around the speeds it looks for

  std::vector<Airing> airings;

  std::vector<fingerprint::Alignment> search(double start_s, double end_s,
                                             const std::vector<fingerprint::Hypothesis>& likely,
                                             bool any_speed) override {
    ++searches;
    if (any_speed) any_speed_at.push_back(end_s);
    std::vector<fingerprint::Alignment> found;
    for (const Airing& airing : airings) {
      const bool looked_for =
          any_speed || std::any_of(likely.begin(), likely.end(), [&](const auto& speed) {
            return std::abs(speed.tempo - airing.speed) < kReach &&
                   std::abs(speed.pitch - airing.speed) < kReach;
          });
      const auto alignment = alignment_of(airing, start_s, end_s);
      if (looked_for && alignment.confidence >= kThreshold) found.push_back(alignment);
    }
    return found;
  }

  std::optional<fingerprint::Alignment> follow(double start_s, double end_s,
                                               const fingerprint::Alignment& known) override {
    fingerprint::Alignment best = known;
    best.track_start_s = known.track_time(start_s);
    best.start_s = start_s;
    best.end_s = end_s;
    best.score = 0;
    best.found_share = 0;
    for (const Airing& airing : airings) {
      if (!same_clock(airing, known, end_s)) continue;
      const auto alignment = alignment_of(airing, start_s, end_s);
      if (alignment.score > best.score) best = alignment;
    }
    return best;
  }

  std::vector<fingerprint::Evidence> trace(double start_s, double end_s,
                                           const fingerprint::Alignment& known) override {
    std::vector<fingerprint::Evidence> evidence;
    for (double at = start_s; at < end_s; at += fingerprint::kEvidenceStep) {
      fingerprint::Evidence step{at, 0, 0, 0};
      const double track_time = known.track_time(at);
      if (track_time >= 0 && track_time < kDuration) {
        step.expected = 6;
        step.chance = 0.05;
        for (const Airing& airing : airings) {
          const double middle = at + 0.5 * fingerprint::kEvidenceStep;
          if (same_clock(airing, known, at) && clear(airing, middle)) step.found = 5;
        }
      }
      evidence.push_back(step);
    }
    return evidence;
  }

  double duration_s(fingerprint::TrackId) override { return kDuration; }

  int searches = 0;
  std::vector<double> any_speed_at;  ///< when any speed was looked for

 private:
  static bool same_clock(const Airing& airing, const fingerprint::Alignment& known, double at_s) {
    return airing.track_id == known.track_id &&
           std::abs(airing.clock_at(at_s) - known.track_time(at_s)) < 0.05;
  }
  static bool clear(const Airing& airing, double at_s) {
    if (at_s < airing.start_s || at_s >= airing.end_s) return false;
    for (const auto& [from, to] : airing.masked) {
      if (at_s >= from && at_s < to) return false;
    }
    return true;
  }
  static fingerprint::Alignment alignment_of(const Airing& airing, double start_s, double end_s) {
    double clear_s = 0;
    constexpr double kStep = 0.1;
    for (double at = start_s + kStep / 2; at < end_s; at += kStep) {
      if (clear(airing, at)) clear_s += kStep;
    }
    fingerprint::Alignment alignment;
    alignment.track_id = airing.track_id;
    alignment.start_s = start_s;
    alignment.end_s = end_s;
    alignment.track_start_s = airing.clock_at(start_s);
    alignment.tempo = airing.speed;
    alignment.pitch = airing.speed;
    alignment.score = kPointsPerSecond * airing.strength * clear_s;
    alignment.found_share = (0.5 + 0.4 * airing.strength) * clear_s / (end_s - start_s);
    alignment.confidence = 1 - std::pow(10, -alignment.score / kPointsPerNine);
    return alignment;
  }
};

}  // namespace spintag::daemon
