// daemon/station.cpp - one station: its stream, kept open for ever, and what is heard on it.
#include "daemon/station.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <random>
#include <utility>

#include "daemon/rfc3339.h"
#include "daemon/track_text.h"
#include "fingerprint/audio/reader.h"

namespace spintag::daemon {

namespace {

constexpr std::size_t kPlaysKept = 50;  // more than can be reopened
constexpr double kHeardNow_s = 3;       // following looks twice a second, at the last five

double seconds(std::chrono::microseconds time) { return static_cast<double>(time.count()) * 1e-6; }

// A play is as long as its samples say, wherever the wall clock's anchor has moved meanwhile.
db::TimePoint end_of(const db::Play& play, const Spin& spin) {
  const double length_s = std::max(0.0, spin.end_s - spin.start_s);
  return play.started_at +
         std::chrono::microseconds(static_cast<std::int64_t>(std::llround(length_s * 1e6)));
}

TuneListener::Ask ask_of(TuneDesk* desk) {
  if (desk == nullptr) return {};
  return [desk](std::vector<float>&& samples) { return desk->ask(std::move(samples)); };
}

}  // namespace

Station::Station(config::Station settings, StationContext context,
                 std::vector<std::pair<db::Play, db::TimePoint>> open, StationParams params)
    : settings_(std::move(settings)),
      context_(context),
      params_(params),
      open_(std::move(open)),
      listener_(
          context.matching, [&index = context.index] { return index.current(); }, params.listener),
      lost_since_(utc_now()),
      tunes_(ask_of(context.tunes), params.tunes),
      progress_(std::chrono::steady_clock::now()) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), ("st-" + settings_.name).substr(0, 15).c_str());
    work(stop);
  });
}

Station::~Station() {
  thread_.request_stop();
  thread_.join();
}

void Station::work(const std::stop_token& stop) {
  std::mt19937 random{std::random_device{}()};
  std::uniform_real_distribution<double> jitter(1 - params_.retry_jitter, 1 + params_.retry_jitter);
  auto retry = params_.first_retry;
  while (!stop.stop_requested()) {
    const double heard_before_s = listener_.stream_s();
    const std::string problem = listen(stop);
    if (stop.stop_requested()) break;
    if (connected_ &&
        listener_.stream_s() - heard_before_s >= static_cast<double>(params_.healthy.count())) {
      retry = params_.first_retry;
    }
    lost(problem);
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double, std::milli>(static_cast<double>(retry.count()) *
                                                  jitter(random)));
    if (!pause(stop, wait)) break;
    retry = std::min(2 * retry, params_.longest_retry);
  }
  Findings findings;
  if (connected_) listener_.disconnect(findings);
  listener_.end_all(findings);
  handle(findings);
  end_lost_segment();
}

void Station::end_lost_segment() {
  if (!lost_segment_) return;
  lost_segment_->ended_at = utc_now();
  LogEntry entry;
  entry.what = LogEntry::What::segment_ended;
  entry.at = utc_now();
  entry.segment = *lost_segment_;
  context_.log.put(entry);
  lost_segment_.reset();
}

// One connection. @return why it is over
std::string Station::listen(const std::stop_token& stop) {
  if (!ever_connected_) context_.board.set_stream(settings_.name, StreamState::connecting);
  progress();
  try {
    fingerprint::AudioOptions options;
    options.stop = stop;
    fingerprint::AudioReader reader(settings_.url, options);
    std::vector<float> samples;
    while (reader.read(samples)) {
      stream_title_ = reader.stream_title();
      counters_.damaged_packets = damaged_before_ + reader.counts().damaged_packets;
      take(samples);
      samples.clear();
    }
    damaged_before_ += reader.counts().damaged_packets;
    return "the stream ended";
  } catch (const fingerprint::AudioError& error) {
    damaged_before_ = counters_.damaged_packets;
    return error.what();
  }
}

void Station::take(std::span<const float> samples) {
  progress();
  const double length_s = static_cast<double>(samples.size()) / fingerprint::AudioOptions{}.rate_hz;
  if (!connected_) came_back(length_s);
  clock_.arrived(listener_.stream_s() + length_s, utc_now());
  if (!open_.empty()) expect_open_plays();
  Findings findings;
  listener_.push(samples, clock_.lag_s() < params_.greatest_lag_s, findings);
  handle(findings);
  if (const auto guess = tunes_.push(samples, unknown_music())) tell_melody(*guess);
  report();
}

void Station::came_back(double first_samples_s) {
  if (clock_.anchored()) {
    listener_.reconnect(clock_.stream_s(utc_now()) - first_samples_s);
    clock_.reconnected();
    ++counters_.reconnects;
  }
  if (!ever_connected_ || !problem_.empty()) {
    spdlog::info("[{}] connected to {}", settings_.name, settings_.url);
  }
  found_again();
  connected_ = true;
  ever_connected_ = true;
  plays_ended_ = false;
  problem_.clear();
  context_.board.set_stream(settings_.name, StreamState::connected);
}

void Station::expect_open_plays() {
  for (const auto& [play, heard_until] : open_) {
    OpenSpin open;
    open.track_id = play.track_id;
    open.start_s = clock_.stream_s(play.started_at);
    open.last_seen_s = clock_.stream_s(heard_until);
    open.track_start_s = play.track_start_s;
    open.speed = play.speed;
    open.pitch = play.pitch;
    open.confidence = play.confidence;
    open.wait_until_s += listener_.stream_s();
    plays_[listener_.expect(open)] = play;
  }
  open_.clear();
}

void Station::lost(const std::string& problem) {
  if (connected_) {
    connected_ = false;
    lost_since_ = utc_now();
    Findings findings;
    listener_.disconnect(findings);
    handle(findings);
  }
  if (problem != problem_) {
    spdlog::warn("[{}] no stream, trying again for as long as it takes: {}", settings_.name,
                 problem);
    problem_ = problem;
  }
  context_.board.set_stream(settings_.name, StreamState::lost, problem);
  while_lost();
}

// An interruption grows: it is told after some seconds, and ends what was on air after some more.
void Station::while_lost() {
  const auto away = utc_now() - lost_since_;
  if (away >= params_.tell_lost && !lost_told_) {
    lost_told_ = true;
    context_.board.set_label(settings_.name, "lost");
    LogEntry entry;
    entry.what = LogEntry::What::segment_began;
    entry.at = utc_now();
    entry.segment.station = settings_.name;
    entry.segment.kind = "lost";
    entry.segment.started_at = lost_since_;
    lost_segment_ = entry.segment;
    context_.log.put(entry);
  }
  if (away >= params_.end_plays && !plays_ended_) {
    plays_ended_ = true;
    Findings findings;
    listener_.end_all(findings);
    handle(findings);
  }
}

void Station::found_again() {
  if (lost_segment_) {
    end_lost_segment();
    context_.board.set_label(settings_.name, "");
  }
  lost_told_ = false;
}

// @return false when asked to stop
bool Station::pause(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until && !stop.stop_requested()) {
    const auto step = std::min<std::chrono::steady_clock::duration>(
        std::chrono::milliseconds(500), until - std::chrono::steady_clock::now());
    never.wait_for(lock, stop, step, [] { return false; });
    progress();
    while_lost();
  }
  return !stop.stop_requested();
}

void Station::handle(const Findings& findings) {
  for (const SpinEvent& event : findings.spins) handle_spin(event);
  for (const SegmentEdge& edge : findings.segments) handle_segment(edge);
}

void Station::handle_spin(const SpinEvent& event) {
  LogEntry entry;
  entry.at = utc_now();
  db::Play& play = plays_[event.spin.spin_id];
  switch (event.what) {
    case SpinEvent::What::started:
      entry.what = LogEntry::What::play_began;
      fill(play, event.spin);
      ++counters_.tags;
      break;
    case SpinEvent::What::renamed:
      entry.what = LogEntry::What::play_renamed;
      entry.before_track_id = play.track_id;
      entry.before_started_at = play.started_at;
      fill(play, event.spin);
      break;
    case SpinEvent::What::resumed:
      entry.what = LogEntry::What::play_resumed;
      play.ended_at.reset();
      break;
    case SpinEvent::What::ended:
    case SpinEvent::What::corrected:
      entry.what = event.what == SpinEvent::What::ended ? LogEntry::What::play_ended
                                                        : LogEntry::What::play_corrected;
      play.ended_at = end_of(play, event.spin);
      play.score = std::max(play.score, event.spin.score);
      play.confidence = std::max(play.confidence, event.spin.confidence);
      play.speed = event.spin.speed;
      play.pitch = event.spin.pitch;
  }
  entry.play = play;
  say(event, play);
  context_.log.put(entry);
  while (plays_.size() > kPlaysKept) plays_.erase(plays_.begin());
}

void Station::fill(db::Play& play, const Spin& spin) const {
  play.station = settings_.name;
  play.track_id = spin.track_id;
  play.detected_at = utc_now();
  play.started_at = std::min(clock_.utc(spin.start_s), play.detected_at);
  play.track_start_s = spin.track_start_s;
  play.confidence = spin.confidence;
  play.score = spin.score;
  play.speed = spin.speed;
  play.pitch = spin.pitch;
  play.stream_title = stream_title_;
  play.time_accuracy_s = clock_.accuracy_s();
  play.track_json = std::string(context_.index.current()->metadata(spin.track_id));
  if (play.track_json.empty()) {
    play.track_json = "{\"track_id\":" + std::to_string(spin.track_id) + "}";
  }
}

void Station::say(const SpinEvent& event, const db::Play& play) const {
  const std::string track = track_text(play.track_json);
  const char* name = settings_.name.c_str();
  switch (event.what) {
    case SpinEvent::What::started:
    case SpinEvent::What::renamed:
      spdlog::info("[{}] {}: {} (from {}, confidence {:.5f}, {:.1f} s after it began)", name,
                   event.what == SpinEvent::What::started ? "on air" : "it is rather", track,
                   minutes_text(play.track_start_s), play.confidence,
                   seconds(play.detected_at - play.started_at));
      break;
    case SpinEvent::What::resumed:
      spdlog::info("[{}] still on air: {}", name, track);
      break;
    case SpinEvent::What::ended:
    case SpinEvent::What::corrected:
      spdlog::info("[{}] ended: {} (after {})", name, track,
                   minutes_text(seconds(*play.ended_at - play.started_at)));
  }
}

void Station::handle_segment(const SegmentEdge& edge) {
  LogEntry entry;
  entry.at = utc_now();
  if (edge.what == SegmentEdge::What::begun) {
    segment_ = db::Segment{};
    segment_->station = settings_.name;
    segment_->kind = edge.kind;
    segment_->started_at = clock_.utc(edge.start_s);
    segment_start_s_ = edge.start_s;
    entry.what = LogEntry::What::segment_began;
    context_.board.set_label(settings_.name, edge.kind);
    spdlog::info("[{}] {}", settings_.name, edge.kind == "music" ? "unknown music" : edge.kind);
  } else {
    if (!segment_) return;
    segment_->ended_at = std::max(segment_->started_at, clock_.utc(edge.end_s));
    entry.what = LogEntry::What::segment_ended;
    context_.board.set_label(settings_.name, "");
  }
  entry.segment = *segment_;
  if (edge.what == SegmentEdge::What::ended) segment_.reset();
  context_.log.put(entry);
}

// What the listener hears at this moment; a play that is on air is heard, or was a moment ago.
UnknownMusic Station::unknown_music() const {
  UnknownMusic state;
  state.now_s = listener_.stream_s();
  const bool is_segment = segment_ && segment_->kind == "music";
  if (is_segment) state.since_s = segment_start_s_;
  const std::vector<Spin> on_air = listener_.on_air();
  state.known =
      (segment_ && !is_segment) || std::any_of(on_air.begin(), on_air.end(), [&](const Spin& spin) {
        return spin.end_s > state.now_s - kHeardNow_s;
      });
  return state;
}

// Of an open segment: the listener would not tell otherwise.
void Station::tell_melody(const TuneGuess& guess) {
  LogEntry entry;
  entry.what = LogEntry::What::segment_guessed;
  entry.at = utc_now();
  entry.segment = *segment_;
  entry.melody = {guess.track_id, guess.track_json, guess.confidence,
                  guess.speed,    guess.pitch,      entry.at};
  ++counters_.melodies_told;
  context_.board.set_melody(settings_.name, entry.melody);
  spdlog::info("[{}] unknown music plays the melody of {} (confidence {:.3f})", settings_.name,
               track_text(guess.track_json), guess.confidence);
  context_.log.put(entry);
}

void Station::report() {
  context_.board.saw_samples(settings_.name, utc_now());
  counters_.windows_searched = listener_.searches();
  counters_.dropped_windows = listener_.skipped_searches();
  counters_.melody_questions = tunes_.asked();
  context_.board.set_counters(settings_.name, counters_);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_heartbeat_ < params_.heartbeat) return;
  last_heartbeat_ = now;
  for (const Spin& spin : listener_.on_air()) {
    const db::Play& play = plays_[spin.spin_id];
    context_.log.heard(play, end_of(play, spin));
  }
}

}  // namespace spintag::daemon
