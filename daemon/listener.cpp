// daemon/listener.cpp - one station's samples in, its plays and unmatched segments out.
#include "daemon/listener.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fingerprint/profile.h"

namespace spintag::daemon {

namespace {

using fingerprint::Alignment;
using fingerprint::BroadcastProfile;
using fingerprint::Hypothesis;

// Following looks once a tick: a play that was not held for longer is not heard now.
constexpr double kMatchedMemory_s = 1.5;
// What is searched and followed is seldom longer; further back only times are asked for.
constexpr double kLevelMemory_s = 16;

/// Under speech no window may reach the threshold, but several add up. What is below this part of
/// it (in nines) adds nothing but chance.
constexpr double kNomination = 1.3 / 3;

TrackerParams with_threshold(TrackerParams params, double threshold) {
  params.sure_nines = nines_of(threshold);
  params.whole_nines = kNomination * params.sure_nines;
  params.summed_nines = std::max(params.summed_nines, params.sure_nines);
  params.middle_nines = std::max(params.middle_nines, params.sure_nines);
  return params;
}

}  // namespace

Listener::Listener(MatchService& matching, CurrentIndex index, const ListenerParams& params)
    : params_(params),
      matching_(matching),
      current_index_(std::move(index)),
      meter_(params.sound),
      tracker_(with_threshold(params.tracker, params.min_confidence)),
      segmenter_(params.segmenter) {}

double Listener::stream_s() const {
  return base_s_ + static_cast<double>(samples_) / BroadcastProfile::rate_hz;
}

void Listener::push(std::span<const float> samples, bool may_search, Findings& findings) {
  while (!samples.empty()) {
    const double due_s = next_tick_s_ + kPreview_s - base_s_;
    const auto due = static_cast<std::int64_t>(std::ceil(due_s * BroadcastProfile::rate_hz));
    const auto before = static_cast<std::size_t>(std::max<std::int64_t>(due - samples_, 0));
    const auto piece = samples.first(std::min(before, samples.size()));
    samples = samples.subspan(piece.size());
    samples_ += static_cast<std::int64_t>(piece.size());
    extractor_.push(piece, new_peaks_, &levels_);
    meter_.push(piece, new_seconds_);
    if (samples_ < due) break;
    gather();
    extractor_.preview(new_peaks_, &levels_);
    append_new_peaks();
    tick(may_search, findings);
  }
}

void Listener::disconnect(Findings& findings) {
  extractor_.finish(new_peaks_, &levels_);
  gather();
  while (next_tick_s_ <= stream_s()) tick(true, findings);
}

void Listener::reconnect(double at_s) {
  extractor_.reset();
  meter_.reset();
  seconds_.clear();
  base_s_ = std::max(at_s, stream_s());
  levels_.reset(base_s_);
  samples_ = 0;
  next_tick_s_ = base_s_ + kTick_s;
  tracker_.resume_at(base_s_);
}

void Listener::end_all(Findings& findings) {
  index_ = current_index_();
  tracker_.end_all(*this, findings.spins);
  segmenter_.close(stream_s(), findings.segments);
  index_.reset();
}

// What is final takes the place of the last preview.
void Listener::gather() {
  peaks_.resize(final_);
  append_new_peaks();
  final_ = peaks_.size();
  for (SoundSecond& second : new_seconds_) {
    second.start_s += base_s_;
    seconds_.push_back(second);
  }
  new_seconds_.clear();
}

void Listener::append_new_peaks() {
  for (fingerprint::Peak& peak : new_peaks_) {
    peak.time_s += base_s_;
    peaks_.push_back(peak);
  }
  new_peaks_.clear();
}

void Listener::tick(bool may_search, Findings& findings) {
  index_ = current_index_();
  if (!may_search) ++skipped_searches_;
  tracker_.tick(*this, base_s_, next_tick_s_, may_search, findings.spins);
  label(next_tick_s_, findings);
  index_.reset();
  next_tick_s_ += kTick_s;
  forget();
}

void Listener::label(double until_s, Findings& findings) {
  while (!seconds_.empty() && seconds_.front().start_s + 1 <= until_s + 1e-6) {
    const SoundSecond second = seconds_.front();
    seconds_.pop_front();
    bool matched = false;
    double play_start_s = 0;
    for (const Spin& spin : tracker_.on_air()) {
      if (spin.end_s < second.start_s - kMatchedMemory_s) continue;
      play_start_s = spin.start_s;
      matched = true;
    }
    segmenter_.second(second, matched, play_start_s, findings.segments);
  }
}

// Cut in large pieces, so that moving the rest costs next to nothing.
void Listener::forget() {
  levels_.forget_before(next_tick_s_ - kLevelMemory_s);
  if (peaks_.empty() || peaks_.front().time_s > next_tick_s_ - 1.25 * params_.memory_s) return;
  const double oldest_s = next_tick_s_ - params_.memory_s;
  const auto keep = std::find_if(peaks_.begin(), peaks_.end(), [&](const fingerprint::Peak& peak) {
    return peak.time_s >= oldest_s;
  });
  final_ -= static_cast<std::size_t>(keep - peaks_.begin());
  peaks_.erase(peaks_.begin(), keep);
}

std::vector<Alignment> Listener::search(double start_s, double end_s,
                                        const std::vector<Hypothesis>& likely, bool any_speed) {
  fingerprint::MatchOptions options;
  options.hypotheses = likely;
  options.any_speed = any_speed;
  options.min_confidence = confidence_of_nines(kNomination * nines_of(params_.min_confidence));
  return matching_.match(index_, {peaks_, &levels_}, start_s, end_s, options);
}

std::optional<Alignment> Listener::follow(double start_s, double end_s, const Alignment& known) {
  const MatcherPool::Lease matcher(matching_.matchers());
  return (*matcher).follow(*index_, {peaks_, &levels_}, start_s, end_s, known);
}

std::vector<fingerprint::Evidence> Listener::trace(double start_s, double end_s,
                                                   const Alignment& known) {
  const MatcherPool::Lease matcher(matching_.matchers());
  return (*matcher).trace(*index_, peaks_, start_s, end_s, known);
}

double Listener::duration_s(fingerprint::TrackId track_id) { return index_->duration_s(track_id); }

}  // namespace spintag::daemon
