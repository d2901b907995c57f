// daemon/tracker.cpp - window results in, plays out.
#include "daemon/tracker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/play_edges.h"
#include "daemon/track_clock.h"

namespace spintag::daemon {

namespace {

using fingerprint::Alignment;
using fingerprint::Extent;
using fingerprint::Hypothesis;

// A window may hold little of the song at one of its sides; this much at the other surely is song.
constexpr double kCore_s = 1.0;

constexpr double kShareMemory = 0.2;  // weight of the newest window in the smoothed share

}  // namespace

void Tracker::tick(Recognition& recognition, double heard_from_s, double until_s, bool may_search,
                   std::vector<SpinEvent>& events) {
  follow(recognition, until_s);
  const auto note_known = [&] {
    for (const OnAir& play : on_air_) known_until_s_ = std::max(known_until_s_, play.held_until_s);
  };
  note_known();
  if (may_search && wants_search(until_s)) search(recognition, heard_from_s, until_s, events);
  note_known();
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
      play.spin.speed = now->tempo;
      play.spin.pitch = now->pitch;
      speeds_.heard(now->tempo, now->pitch);
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
  for (const Alignment& found : look(recognition, heard_from_s, until_s)) {
    if (found.found_share < params_.min_share || explained(found, until_s)) continue;
    const Candidate candidate = candidates_.add(found);
    Alignment sure = found;
    sure.confidence = candidate.best().confidence;
    if (nines_of(sure.confidence) < params_.sure_nines) {
      if (candidate.nines() < params_.summed_nines) continue;
      sure.confidence = confidence_of_nines(candidate.nines());
    }
    admit(recognition, sure, heard_from_s, until_s, events);
  }
  candidates_.forget(until_s);
}

// What the windows that end now hold, the surest first.
std::vector<Alignment> Tracker::look(Recognition& recognition, double heard_from_s,
                                     double until_s) {
  const bool quiet = until_s - known_until_s_ >= params_.long_window_s;
  const bool expects_nothing =
      candidates_.empty() && !share_fell_ && until_s - known_until_s_ < kCore_s;
  const bool short_only = candidates_.empty() && until_s - looked_far_s_ < params_.look_far_every_s;
  if (!short_only) looked_far_s_ = until_s;
  const std::vector<Hypothesis> likely = likely_speeds();
  std::vector<Alignment> found;
  for (const double length_s : {params_.short_window_s, params_.window_s, params_.long_window_s}) {
    if (length_s > params_.short_window_s && short_only) break;
    if (length_s > params_.window_s && !quiet) break;
    if (length_s < params_.window_s && expects_nothing) continue;
    // A window that the stream does not fill yet has a right to be shorter, but not by much.
    const double from_s = std::max(until_s - length_s, heard_from_s);
    if (until_s - from_s < 0.7 * length_s) break;
    const double unknown_s = until_s - std::max({known_until_s_, heard_from_s, grace_from_s_});
    const bool any_speed = length_s > params_.window_s && found.empty() && candidates_.empty() &&
                           speeds_.wants_any(until_s, unknown_s);
    if (any_speed) speeds_.looked_for_any(until_s);
    ++searches_;
    const auto some = recognition.search(from_s, until_s, likely, any_speed);
    found.insert(found.end(), some.begin(), some.end());
  }
  std::stable_sort(found.begin(), found.end(), [](const Alignment& a, const Alignment& b) {
    return a.confidence > b.confidence;
  });
  return found;
}

// Where a station has been before, and where a candidate would be.
std::vector<Hypothesis> Tracker::likely_speeds() const {
  SpeedMemory speeds = speeds_;
  for (const Candidate& candidate : candidates_.all())
    speeds.heard(candidate.best().tempo, candidate.best().pitch);
  return speeds.likely();
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

void Tracker::admit(Recognition& recognition, const Alignment& found, double heard_from_s,
                    double until_s, std::vector<SpinEvent>& events) {
  const Alignment core = over(found, found.end_s - kCore_s, found.end_s);
  const double from_s = std::max({heard_from_s, until_s - params_.trace_back_s, zero_of(found)});
  const auto evidence = recognition.trace(from_s, until_s, core);
  const Extent extent =
      find_play_edges(evidence, core, from_s == zero_of(found), false, params_.edges);
  double start_s = std::min(std::max(extent.start_s, from_s), core.start_s);
  const Audible audible = find_audible(evidence, start_s);
  if (audible.seconds < params_.min_heard_s) return;
  if (continues_running(found, recognition, start_s, until_s, events) ||
      continues_past(found, recognition, {start_s, extent.end_s}, until_s, events) ||
      shares_audio(found, start_s, until_s) ||
      !enough(recognition, found, start_s, audible, heard_from_s, until_s)) {
    return;
  }
  candidates_.erase(found.track_id);
  if (rename_running(found, start_s, until_s, events)) return;
  for (const OnAir& play : on_air_) {
    start_s = std::max(start_s, play.held_until_s - params_.max_overlap_s);
  }
  start(found, std::min(start_s, core.start_s), until_s, events);
}

// All that was heard of a song must speak for it, not one window alone. And a song begins with its
// beginning, or was on air before the stream could be heard: one that comes out of its own middle
// may be a passage that two tracks share.
bool Tracker::enough(Recognition& recognition, const Alignment& found, double start_s,
                     const Audible& audible, double heard_from_s, double until_s) const {
  const double from_s = std::clamp(audible.clear_from_s, until_s - params_.long_window_s,
                                   until_s - params_.short_window_s);
  const auto whole = recognition.follow(from_s, until_s, found);
  const double nines = whole ? nines_of(whole->confidence) : 0;
  if (found.track_time(start_s) < params_.head_s || start_s - heard_from_s < kCore_s)
    return nines >= params_.whole_nines;
  return nines >= params_.middle_nines && audible.seconds >= params_.middle_heard_s;
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
    // What began long before that play ended is no new beginning, but the same at another repeat.
    const bool repeats = heard.start_s < past.spin.end_s - params_.replay_tail_s;
    if (!jumped && !repeats && clock_distance(found, past.clock, until_s) > slack_s) continue;
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
  speeds_.song_began(found.tempo, found.pitch);
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
               .pitch = open.pitch};
  speeds_.song_began(open.speed, open.pitch);
  past.clock.track_id = open.track_id;
  past.clock.start_s = open.start_s;
  past.clock.end_s = past.spin.end_s;
  past.clock.track_start_s = open.track_start_s;
  past.clock.tempo = open.speed;
  past.clock.pitch = open.pitch;
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
