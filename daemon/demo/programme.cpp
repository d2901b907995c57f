// daemon/demo/programme.cpp - what a radio station plays.
#include "daemon/demo/programme.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "fingerprint/audio/reader.h"

namespace spintag::daemon {

namespace {

/// `seconds` of a file from `from_s` on; fewer when it ends before.
std::vector<float> decode(const Song& song, double from_s, double seconds, int rate_hz) {
  fingerprint::AudioOptions options;
  options.rate_hz = rate_hz;
  fingerprint::AudioReader reader(song.file, options);
  auto skip = static_cast<std::size_t>(from_s * rate_hz);
  const auto wanted = static_cast<std::size_t>(seconds * rate_hz);
  std::vector<float> samples;
  std::vector<float> block;
  while (samples.size() < wanted) {
    block.clear();
    if (!reader.read(block)) break;
    const std::size_t dropped = std::min(skip, block.size());
    skip -= dropped;
    samples.insert(samples.end(), block.begin() + static_cast<std::ptrdiff_t>(dropped),
                   block.end());
  }
  samples.resize(std::min(samples.size(), wanted));
  if (samples.empty()) throw fingerprint::AudioError(song.file + ": no audio in it");
  return samples;
}

void bring_to_level(std::vector<float>& samples, double level) {
  double energy = 0;
  for (const float sample : samples) energy += static_cast<double>(sample) * sample;
  const double rms = std::sqrt(energy / static_cast<double>(samples.size()));
  if (rms <= 0) return;
  const auto gain = static_cast<float>(std::min(level / rms, 20.0));
  for (float& sample : samples) sample *= gain;
}

// Equal power: the gains of two songs that overlap are sin and cos of the same angle.
float fade(double share) {
  return static_cast<float>(std::sin(0.5 * std::numbers::pi * std::clamp(share, 0.0, 1.0)));
}

// Straight up to 0.7, then bends towards 1 and never reaches it.
float limit(float sample) {
  const float size = std::abs(sample);
  if (size <= 0.7F) return sample;
  return std::copysign(0.7F + 0.3F * std::tanh((size - 0.7F) / 0.3F), sample);
}

}  // namespace

Programme::Programme(std::vector<Song> songs, ProgrammeParams params, Announcer announcer)
    : songs_(std::move(songs)), params_(params), announcer_(std::move(announcer)) {
  if (songs_.empty()) throw std::invalid_argument("a programme needs a song");
  fade_ = static_cast<std::uint64_t>(params_.fade_s * params_.rate_hz);
  next_ = load(0, nullptr);
  next_.begin = static_cast<std::uint64_t>(params_.opening_s * params_.rate_hz);
  load_ahead();
}

Programme::Slot Programme::load(std::size_t song, const Song* ending) const {
  const Song& next = songs_[song];
  Slot slot;
  slot.song = song;
  const double spare_s = std::max(0.0, next.duration_s - params_.song_s);
  slot.track_start_s = std::min(spare_s, params_.skip_share * next.duration_s);
  slot.samples = decode(next, slot.track_start_s, params_.song_s, params_.rate_hz);
  bring_to_level(slot.samples, params_.level);
  slot.talk = announcer_(ending, next);
  return slot;
}

void Programme::load_ahead() {
  const Song* ending = &songs_[next_.song];
  const std::size_t song = (next_.song + 1) % songs_.size();
  ahead_ = std::async(std::launch::async, [this, song, ending] { return load(song, ending); });
}

// A slot follows the one before it by that one's length less the fade; a song shorter than two
// fades is cut off by its follower.
void Programme::advance_to(std::uint64_t sample) {
  while (sample == next_.begin) {
    starts_.push_back({next_.song, next_.begin, next_.track_start_s,
                       static_cast<double>(next_.samples.size()) / params_.rate_hz});
    current_ = std::move(next_);
    next_ = ahead_.get();
    next_.begin =
        std::max(current_.begin + 1, current_.end() - std::min(fade_, current_.samples.size()));
    load_ahead();
  }
}

float Programme::music_at(const Slot& slot, std::uint64_t sample) const {
  if (sample < slot.begin || sample >= slot.end()) return 0;
  const auto span = static_cast<double>(std::max<std::uint64_t>(fade_, 1));
  const double in = static_cast<double>(sample - slot.begin) / span;
  const double out = static_cast<double>(slot.end() - sample) / span;
  return slot.samples[sample - slot.begin] * fade(in) * fade(out);
}

void Programme::add_talk(const Slot& slot, std::uint64_t sample, float& talk, float& duck) const {
  if (slot.talk.empty()) return;
  const auto lead = static_cast<std::uint64_t>(params_.talk_lead_s * params_.rate_hz);
  const std::uint64_t begin = slot.begin - std::min(lead, slot.begin);
  const std::uint64_t end = begin + slot.talk.size();
  if (sample >= begin && sample < end) talk += slot.talk[sample - begin];
  const double ramp = std::max(1.0, params_.duck_ramp_s * params_.rate_hz);
  const double before = static_cast<double>(begin) - static_cast<double>(sample);
  const double after = static_cast<double>(sample) - static_cast<double>(end);
  const double distance = std::clamp(std::max(before, after) / ramp, 0.0, 1.0);
  duck = std::min(duck, static_cast<float>(params_.duck_gain + (1 - params_.duck_gain) * distance));
}

void Programme::mix(std::span<float> out) {
  for (float& sample : out) {
    advance_to(position_);
    float talk = 0;
    float duck = 1;
    add_talk(current_, position_, talk, duck);
    add_talk(next_, position_, talk, duck);
    const float music = music_at(current_, position_) + music_at(next_, position_);
    sample = limit(duck * music + talk);
    ++position_;
  }
}

}  // namespace spintag::daemon
