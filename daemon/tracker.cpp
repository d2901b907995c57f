// daemon/tracker.cpp - window results in, plays out.
#include "daemon/tracker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/play_edges.h"

namespace spintag::daemon {

namespace {

using fingerprint::Alignment;
using fingerprint::Extent;

// How far apart two alignments say the track's clock stands at one moment.
double clock_distance(const Alignment& a, const Alignment& b, double at_s) {
  return std::abs(a.track_time(at_s) - b.track_time(at_s));
}

// The same line, said over another window.
Alignment over(const Alignment& known, double start_s, double end_s) {
  Alignment moved = known;
  moved.track_start_s = known.track_time(start_s);
  moved.start_s = start_s;
  moved.end_s = end_s;
  return moved;
}

// Stream time at which the track's own time 0 falls.
double zero_of(const Alignment& clock) { return clock.start_s - clock.track_start_s / clock.tempo; }

// Stream time at which the track ends.
double end_of(const Alignment& clock, double duration_s) {
  return clock.start_s + (duration_s - clock.track_start_s) / clock.tempo;
}

// In how many of its half seconds the track stands out.
double heard_s(const std::vector<fingerprint::Evidence>& evidence) {
  const auto steps = std::count_if(
      evidence.begin(), evidence.end(),
      [](const fingerprint::Evidence& step) { return step.found > step.chance + 0.5; });
  return static_cast<double>(steps) * fingerprint::kEvidenceStep;
}

// A window may hold little of the song at one of its sides; this much at the other surely is song.
constexpr double kCore_s = 1.0;

constexpr double kShareMemory = 0.2;  // weight of the newest window in the smoothed share

}  // namespace

void Tracker::tick(Recognition& recognition, double heard_from_s, double until_s, bool may_search,
                   std::vector<SpinEvent>& events) {
  follow(recognition, until_s);
  if (may_search && wants_search(until_s)) search(recognition, heard_from_s, until_s, events);
  end_stale(recognition, until_s, events);
  close_expired(until_s, false, events);
}

void Tracker::follow(Recognition& recognition, double until_s) {
  share_fell_ = false;
  for (OnAir& play : on_air_) {
    const auto now = recognition.follow(until_s - params_.window_s, until_s, play.clock);
    if (!now || now->score < params_.hold_score ||
        clock_distance(*now, play.clock, until_s) > params_.refit_step_s) {
      share_fell_ = true;
      continue;
    }
    play.held_until_s = until_s;
    play.score_now = now->score;
    play.spin.end_s = std::max(play.spin.end_s, until_s);
    if (now->found_share < params_.share_drop * play.share) share_fell_ = true;
    play.share += kShareMemory * (now->found_share - play.share);
    if (now->score >= params_.refit_score) play.clock = *now;
    if (now->score > play.spin.score) {
      play.spin.score = now->score;
      play.spin.confidence = std::max(play.spin.confidence, now->confidence);
    }
  }
}

bool Tracker::held(const OnAir& play, double until_s) const {
  return until_s - play.held_until_s < 2;
}

bool Tracker::wants_search(double until_s) const {
  if (!candidates_.empty() || share_fell_) return true;
  const bool any_held = std::any_of(on_air_.begin(), on_air_.end(),
                                    [&](const OnAir& play) { return held(play, until_s); });
  return !any_held || until_s - last_search_s_ >= params_.search_every_s;
}

void Tracker::search(Recognition& recognition, double heard_from_s, double until_s,
                     std::vector<SpinEvent>& events) {
  last_search_s_ = until_s;
  const bool quiet = std::all_of(on_air_.begin(), on_air_.end(), [&](const OnAir& play) {
    return until_s - play.held_until_s >= params_.long_window_s;
  });
  std::vector<Alignment> found;
  for (const double length_s : {params_.window_s, params_.long_window_s}) {
    if (length_s > params_.window_s && !quiet) break;
    // A window that the stream does not fill yet has a right to be shorter, but not by much.
    const double from_s = std::max(until_s - length_s, heard_from_s);
    if (until_s - from_s < 0.7 * length_s) break;
    ++searches_;
    const auto some = recognition.search(from_s, until_s);
    found.insert(found.end(), some.begin(), some.end());
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Alignment& a, const Alignment& b) { return a.score > b.score; });
  for (const Alignment& alignment : found) {
    if (alignment.found_share < params_.min_share || explained(alignment, until_s)) continue;
    if (believed(alignment)) admit(recognition, alignment, heard_from_s, until_s, events);
  }
  std::erase_if(candidates_, [&](const Candidate& candidate) {
    return until_s - candidate.last_end_s > params_.agree_within_s;
  });
}

// A window that says again what is known. It also brings back a clock that following had lost.
bool Tracker::explained(const Alignment& found, double until_s) {
  for (OnAir& play : on_air_) {
    if (play.spin.track_id != found.track_id) continue;
    if (clock_distance(found, play.clock, until_s) <= params_.refit_step_s) {
      play.clock = found;
      play.held_until_s = until_s;
      play.spin.end_s = std::max(play.spin.end_s, until_s);
      play.share = std::max(play.share, found.found_share);
      return true;
    }
    // A repeated passage matches in two places; the clock that goes on is the right one.
    if (until_s - play.held_until_s < params_.window_s) return true;
  }
  return false;
}

bool Tracker::believed(const Alignment& found) {
  auto candidate = std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) {
    return c.best.track_id == found.track_id &&
           clock_distance(c.best, found, found.end_s) <= params_.clock_tolerance_s;
  });
  if (candidate == candidates_.end()) {
    candidate = candidates_.insert(candidates_.end(), {found, found.end_s, found.end_s, 0, false});
  }
  candidate->last_end_s = found.end_s;
  ++candidate->windows;
  if (found.score >= candidate->best.score) candidate->best = found;
  if (found.score >= (is_long(found) ? params_.strong_long_score : params_.strong_score)) {
    candidate->strong = true;
  }
  return enough(*candidate, found);
}

bool Tracker::is_long(const Alignment& found) const {
  return found.end_s - found.start_s > params_.window_s + 0.5;
}

bool Tracker::enough(const Candidate& candidate, const Alignment& found) const {
  if (found.score >= (is_long(found) ? params_.strong_long_score : params_.sure_score)) return true;
  const double apart_s = found.end_s - candidate.first_end_s;
  if (candidate.strong) return apart_s >= params_.agree_apart_s;
  return candidate.windows >= params_.weak_windows && apart_s >= params_.weak_apart_s;
}

void Tracker::admit(Recognition& recognition, const Alignment& found, double heard_from_s,
                    double until_s, std::vector<SpinEvent>& events) {
  const Alignment core = over(found, found.end_s - kCore_s, found.end_s);
  const double from_s = std::max({heard_from_s, until_s - params_.trace_back_s, zero_of(found)});
  const auto evidence = recognition.trace(from_s, until_s, core);
  const Extent extent =
      find_play_edges(evidence, core, from_s == zero_of(found), false, params_.edges);
  if (heard_s(evidence) < params_.min_heard_s) return;
  double start_s = std::min(std::max(extent.start_s, from_s), core.start_s);
  if (continues_running(found, recognition, start_s, until_s, events) ||
      continues_past(found, recognition, {start_s, extent.end_s}, until_s, events) ||
      shares_audio(found, start_s, until_s)) {
    return;
  }
  std::erase_if(candidates_, [&](const Candidate& c) { return c.best.track_id == found.track_id; });
  if (rename_running(found, start_s, until_s, events)) return;
  for (const OnAir& play : on_air_) {
    start_s = std::max(start_s, play.held_until_s - params_.max_overlap_s);
  }
  start(found, std::min(start_s, core.start_s), until_s, events);
}

// The track is on air already, at another place of itself: a jump (loop music, a skipping disc, a
// stream that came back with its clock shifted) is the same play; a new beginning is another.
bool Tracker::continues_running(const Alignment& found, Recognition& recognition, double start_s,
                                double until_s, std::vector<SpinEvent>& events) {
  for (std::size_t i = 0; i < on_air_.size(); ++i) {
    OnAir& play = on_air_[i];
    if (play.spin.track_id != found.track_id) continue;
    if (is_replay(recognition, play.spin, play.clock, found, start_s)) {
      end(recognition, play, until_s, events);
      on_air_.erase(on_air_.begin() + static_cast<std::ptrdiff_t>(i));
      return false;
    }
    play.clock = found;
    play.held_until_s = until_s;
    play.spin.end_s = std::max(play.spin.end_s, until_s);
    return true;
  }
  return false;
}

bool Tracker::is_replay(Recognition& recognition, const Spin& before, const Alignment& clock,
                        const Alignment& found, double start_s) const {
  const double duration_s = recognition.duration_s(before.track_id);
  const bool at_head = found.track_time(start_s) < params_.replay_head_s;
  const bool was_over =
      duration_s > 0 && clock.track_time(start_s) > duration_s - params_.replay_tail_s;
  return at_head && was_over;
}

// It ended too early, or is open from before a restart: its clock went on, or it jumped to another
// place of itself.
bool Tracker::continues_past(const Alignment& found, Recognition& recognition, const Extent& heard,
                             double until_s, std::vector<SpinEvent>& events) {
  for (std::size_t i = 0; i < past_.size(); ++i) {
    Past& past = past_[i];
    if (past.spin.track_id != found.track_id) continue;
    const bool was_away = grace_from_s_ >= past.spin.end_s;
    const double slack_s =
        was_away ? std::max(past.slack_s, params_.reconnect_slack_s) : past.slack_s;
    const bool jumped = heard.start_s - past.spin.end_s < params_.jump_within_s &&
                        found.track_time(heard.start_s) >= params_.replay_head_s;
    if (!jumped && clock_distance(found, past.clock, until_s) > slack_s) continue;
    // A window that still reaches back into what has ended says nothing new.
    const double duration_s = recognition.duration_s(found.track_id);
    const bool is_over = duration_s > 0 && found.track_time(until_s) > duration_s;
    if (!past.open && (is_over || heard.end_s < past.spin.end_s + params_.reopen_more_s)) {
      return true;
    }
    OnAir play;
    play.spin = past.spin;
    play.spin.end_s = until_s;
    play.clock = found;
    play.held_until_s = until_s;
    play.share = found.found_share;
    play.resumed = !past.open;
    past_.erase(past_.begin() + static_cast<std::ptrdiff_t>(i));
    on_air_.push_back(play);
    events.push_back({SpinEvent::What::resumed, play.spin});
    return true;
  }
  return false;
}

// A second track that has sounded all the while is the same audio under another number (a
// duplicate, a compilation, music made of the same loops): the first one stays.
bool Tracker::shares_audio(const Alignment& found, double start_s, double until_s) const {
  return std::any_of(on_air_.begin(), on_air_.end(), [&](const OnAir& play) {
    if (!held(play, until_s)) return false;
    if (found.score < params_.outdo * play.score_now) return true;
    return until_s - start_s > params_.max_overlap_s ||
           start_s - play.spin.start_s < params_.same_start_s;
  });
}

// The first seconds are shared and only the rest tells the two apart: the track that explains all
// of the play is the right one.
bool Tracker::rename_running(const Alignment& found, double start_s, double until_s,
                             std::vector<SpinEvent>& events) {
  for (OnAir& play : on_air_) {
    if (held(play, until_s) || start_s - play.spin.start_s >= params_.same_start_s) continue;
    play.spin.track_id = found.track_id;
    play.spin.start_s = start_s;
    play.spin.end_s = until_s;
    play.spin.track_start_s = found.track_time(start_s);
    play.spin.confidence = found.confidence;
    play.spin.score = found.score;
    play.spin.speed = found.tempo;
    play.spin.pitch = found.pitch;
    play.clock = found;
    play.held_until_s = until_s;
    play.share = found.found_share;
    events.push_back({SpinEvent::What::renamed, play.spin});
    return true;
  }
  return false;
}

void Tracker::start(const Alignment& found, double start_s, double until_s,
                    std::vector<SpinEvent>& events) {
  close_expired(until_s, true, events);  // another song is on: what was open from before is over
  OnAir play;
  play.spin = {.spin_id = next_id_++,
               .track_id = found.track_id,
               .start_s = start_s,
               .end_s = until_s,
               .track_start_s = std::max(0.0, found.track_time(start_s)),
               .detected_s = until_s,
               .confidence = found.confidence,
               .score = found.score,
               .speed = found.tempo,
               .pitch = found.pitch};
  play.clock = found;
  play.held_until_s = until_s;
  play.share = found.found_share;
  play.score_now = found.score;
  on_air_.push_back(play);
  events.push_back({SpinEvent::What::started, play.spin});
}

void Tracker::end_stale(Recognition& recognition, double until_s, std::vector<SpinEvent>& events) {
  for (std::size_t i = 0; i < on_air_.size();) {
    OnAir& play = on_air_[i];
    const double silent_s = until_s - std::max(play.held_until_s, grace_from_s_);
    const double duration_s = recognition.duration_s(play.spin.track_id);
    const bool past_end =
        duration_s > 0 && play.clock.track_time(until_s) > duration_s + params_.past_end_s;
    const bool replaced = std::any_of(on_air_.begin(), on_air_.end(), [&](const OnAir& other) {
      return &other != &play && held(other, until_s);
    });
    double patience_s = params_.end_after_s;
    if (replaced) patience_s = params_.replaced_after_s;
    if (past_end) patience_s = params_.past_end_s;
    if (silent_s < patience_s) {
      ++i;
      continue;
    }
    end(recognition, play, until_s, events);
    on_air_.erase(on_air_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Tracker::end(Recognition& recognition, OnAir& play, double until_s,
                  std::vector<SpinEvent>& events) {
  const Alignment core = over(play.clock, play.clock.start_s, play.clock.start_s + kCore_s);
  const double duration_s = recognition.duration_s(play.spin.track_id);
  double to_s = until_s;
  if (duration_s > 0) to_s = std::min(to_s, end_of(play.clock, duration_s));
  to_s = std::max(to_s, core.end_s);
  const auto evidence = recognition.trace(play.clock.start_s, to_s, core);
  const Extent extent = find_play_edges(evidence, core, false, to_s < until_s, params_.edges);
  play.spin.end_s = std::clamp(extent.end_s, core.end_s, std::max(to_s, core.end_s));
  play.spin.end_s = std::max(play.spin.end_s, play.spin.start_s);
  events.push_back({play.resumed ? SpinEvent::What::corrected : SpinEvent::What::ended, play.spin});
  past_.push_back(
      {play.spin, play.clock, params_.reopen_slack_s, until_s + params_.reopen_within_s, false});
}

void Tracker::end_all(Recognition& recognition, std::vector<SpinEvent>& events) {
  for (OnAir& play : on_air_) end(recognition, play, play.held_until_s, events);
  on_air_.clear();
  candidates_.clear();
  close_expired(0, true, events);
}

std::uint64_t Tracker::expect(const OpenSpin& open) {
  Past past;
  past.spin = {.spin_id = next_id_++,
               .track_id = open.track_id,
               .start_s = open.start_s,
               .end_s = std::max(open.start_s, open.last_seen_s),
               .track_start_s = open.track_start_s,
               .detected_s = open.start_s,
               .confidence = open.confidence,
               .score = 0,
               .speed = open.speed,
               .pitch = 1};
  past.clock.track_id = open.track_id;
  past.clock.start_s = open.start_s;
  past.clock.end_s = past.spin.end_s;
  past.clock.track_start_s = open.track_start_s;
  past.clock.tempo = open.speed;
  past.slack_s = open.slack_s;
  past.expires_s = open.wait_until_s;
  past.open = true;
  past_.push_back(past);
  return past.spin.spin_id;
}

void Tracker::close_expired(double until_s, bool all_open, std::vector<SpinEvent>& events) {
  for (const Past& past : past_) {
    if (past.open && (all_open || past.expires_s <= until_s)) {
      events.push_back({SpinEvent::What::ended, past.spin});
    }
  }
  std::erase_if(past_, [&](const Past& past) {
    return past.expires_s <= until_s || (past.open && all_open);
  });
}

std::vector<Spin> Tracker::on_air() const {
  std::vector<Spin> spins;
  for (const OnAir& play : on_air_) spins.push_back(play.spin);
  return spins;
}

}  // namespace spintag::daemon
