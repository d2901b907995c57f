// daemon/sound_meter.cpp - what kind of sound each second is, from its loudness alone.
#include "daemon/sound_meter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spintag::daemon {

namespace {

constexpr double kFloor = 1e-12;  // power; keeps the logarithm of digital silence finite

// Frames end at the nearest sample: 220.5 samples a frame do not divide.
std::int64_t frame_end_sample(std::int64_t frame) {
  return (frame + 1) * SoundMeter::kRateHz / SoundMeter::kFramesPerSecond;
}

// Share of frames under half of the mean level of their own second, averaged over the seconds.
double quiet_share(std::span<const float> levels) {
  double share = 0;
  const std::size_t second = SoundMeter::kFramesPerSecond;
  const std::size_t seconds = levels.size() / second;
  for (std::size_t s = 0; s < seconds; ++s) {
    const auto part = levels.subspan(s * second, second);
    double mean = 0;
    for (const float level : part) mean += level;
    mean /= static_cast<double>(second);
    const auto quiet =
        std::count_if(part.begin(), part.end(), [&](float level) { return level < 0.5 * mean; });
    share += static_cast<double>(quiet) / static_cast<double>(second);
  }
  return share / static_cast<double>(seconds);
}

// Depth of the loudness swings between 2 and 8 Hz: root of the power of e(t) / mean(e) in that band
// under a Hann window, by the discrete Fourier transform's own sum for the bins that are asked for.
double modulation(std::span<const float> levels) {
  const auto n = levels.size();
  const double seconds = static_cast<double>(n) / SoundMeter::kFramesPerSecond;
  double mean = 0;
  for (const float level : levels) mean += level;
  mean /= static_cast<double>(n);
  if (mean <= 0) return 0;
  double power = 0;
  for (int bin = static_cast<int>(2 * seconds); bin <= static_cast<int>(8 * seconds); ++bin) {
    const double step = 2 * std::numbers::pi * bin / static_cast<double>(n);
    double re = 0;
    double im = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(i);
      const double hann =
          0.5 - 0.5 * std::cos(2 * std::numbers::pi * x / static_cast<double>(n - 1));
      const double value = hann * (levels[i] / mean - 1);
      re += value * std::cos(step * x);
      im -= value * std::sin(step * x);
    }
    power += re * re + im * im;
  }
  return std::sqrt(2 * power) / (static_cast<double>(n) * std::sqrt(3.0 / 8.0));
}

}  // namespace

const char* to_string(Sound sound) noexcept {
  switch (sound) {
    case Sound::silence:
      return "silence";
    case Sound::speech:
      return "speech";
    case Sound::music:
      break;
  }
  return "music";
}

void SoundMeter::reset() {
  frames_ = 0;
  samples_ = 0;
  frame_end_ = 0;
  frame_begin_ = 0;
  frame_power_ = 0;
  second_power_ = 0;
}

void SoundMeter::push(std::span<const float> samples, std::vector<SoundSecond>& seconds) {
  for (const float sample : samples) {
    if (samples_ == 0) frame_end_ = frame_end_sample(0);
    frame_power_ += static_cast<double>(sample) * sample;
    if (++samples_ == frame_end_) end_frame(seconds);
  }
}

void SoundMeter::end_frame(std::vector<SoundSecond>& seconds) {
  const auto length = static_cast<double>(frame_end_ - frame_begin_);
  levels_[static_cast<std::size_t>(frames_) % kMemoryFrames] =
      static_cast<float>(std::sqrt(frame_power_ / length));
  second_power_ += frame_power_;
  frame_power_ = 0;
  frame_begin_ = frame_end_;
  ++frames_;
  frame_end_ = frame_end_sample(frames_);
  if (frames_ % kFramesPerSecond != 0) return;
  SoundSecond second;
  second.start_s = static_cast<double>(frames_) / kFramesPerSecond - 1;
  second.level_dbfs = 10 * std::log10(second_power_ / kRateHz + kFloor);
  second_power_ = 0;
  second.sound = second.level_dbfs < params_.silence_dbfs ? Sound::silence : judge();
  seconds.push_back(second);
}

Sound SoundMeter::judge() const {
  // In time order; fewer than ten seconds when the stream has just begun.
  const auto count = static_cast<std::size_t>(
      std::min<std::int64_t>(frames_, static_cast<std::int64_t>(kMemoryFrames)));
  std::array<float, kMemoryFrames> ordered{};
  for (std::size_t i = 0; i < count; ++i) {
    ordered[i] = levels_[(static_cast<std::size_t>(frames_) - count + i) % kMemoryFrames];
  }
  const std::span<const float> levels(ordered.data(), count);
  const bool speech = quiet_share(levels) > params_.speech_quiet_share &&
                      modulation(levels) > params_.speech_modulation;
  return speech ? Sound::speech : Sound::music;
}

}  // namespace spintag::daemon
