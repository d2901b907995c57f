// fingerprint/dejavu.cpp - the `dejavu` profile: published parameters from samples to landmarks.
#include "fingerprint/dejavu.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "fingerprint/cuda/lists.h"

namespace spintag::fingerprint {
namespace {

constexpr double kFullScale = 32768;  ///< counts of a 16-bit sample

kernels::StftParams stft_params() {
  return {.frame_samples = DejavuProfile::frame_samples,
          .hop_samples = DejavuProfile::hop_samples,
          .bins = DejavuProfile::bins,
          .window = kernels::HannWindow::kSymmetric,
          .scale = kernels::PowerScale::kDensity,
          .gain = kFullScale * kFullScale / DejavuProfile::rate_hz};
}

kernels::PeakParams peak_params(const DejavuProfile& profile) {
  if (!(profile.floor_db >= 0)) {
    throw std::invalid_argument("a floor of " + std::to_string(profile.floor_db) +
                                " dB: the dejavu profile knows no peaks below 0 dB");
  }
  return {.footprint = kernels::Footprint::diamond(profile.radius), .floor_db = profile.floor_db};
}

}  // namespace

DejavuSpectrogram::DejavuSpectrogram()
    : stft_(stft_params()),
      samples_(DejavuProfile::frame_samples),
      decibels_(DejavuProfile::bins) {}

void DejavuSpectrogram::reset() {
  filled_ = 0;
  any_frame_ = false;
}

std::size_t DejavuSpectrogram::fill(std::span<const float> samples) {
  const std::size_t count = std::min(samples.size(), samples_.size() - filled_);
  std::copy_n(samples.begin(), count, samples_.begin() + static_cast<std::ptrdiff_t>(filled_));
  filled_ += count;
  return count;
}

std::span<const float> DejavuSpectrogram::next_frame() {
  stft_.power_spectrum(samples_.data(), decibels_.data());
  kernels::power_to_db(decibels_, 0, decibels_);
  std::copy(samples_.begin() + DejavuProfile::hop_samples, samples_.end(), samples_.begin());
  filled_ -= DejavuProfile::hop_samples;
  any_frame_ = true;
  return decibels_;
}

bool DejavuSpectrogram::fill_up_short_recording() {
  if (any_frame_ || filled_ == 0) return false;
  std::fill(samples_.begin() + static_cast<std::ptrdiff_t>(filled_), samples_.end(), 0.0F);
  filled_ = samples_.size();
  return true;
}

DejavuPeakFinder::DejavuPeakFinder(const DejavuProfile& profile)
    : finder_(peak_params(profile), DejavuProfile::bins) {}

void DejavuPeakFinder::push(std::span<const float> samples, std::vector<kernels::Peak>& peaks) {
  spectrogram_.push(samples, [&](std::span<const float> frame) { finder_.push(frame, peaks); });
}

void DejavuPeakFinder::finish(std::vector<kernels::Peak>& peaks) {
  spectrogram_.finish([&](std::span<const float> frame) { finder_.push(frame, peaks); });
  finder_.finish(peaks);
}

void DejavuPeakFinder::reset() {
  spectrogram_.reset();
  finder_.reset();
}

std::vector<DejavuLandmark> dejavu_landmarks(std::span<const kernels::Peak> peaks,
                                             const DejavuProfile& profile) {
  std::vector<DejavuLandmark> landmarks;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const std::size_t end = std::min(peaks.size(), i + std::max<std::size_t>(profile.fan_out, 1));
    for (std::size_t j = i + 1; j < end; ++j) {
      const std::uint32_t dt = peaks[j].frame - peaks[i].frame;
      if (dt > DejavuProfile::max_dt_frames) break;  // peaks are in time order
      landmarks.push_back({peaks[i].frame, static_cast<std::uint16_t>(peaks[i].bin),
                           static_cast<std::uint16_t>(peaks[j].bin),
                           static_cast<std::uint16_t>(dt)});
    }
  }
  return landmarks;
}

std::vector<std::vector<DejavuLandmark>> dejavu_landmarks(
    kernels::Device& device, std::span<const std::span<const kernels::Peak>> lists,
    const DejavuProfile& profile) {
  if (device.is_cuda()) return cuda::dejavu_landmarks(device, lists, profile);
  std::vector<std::vector<DejavuLandmark>> landmarks;
  for (const auto& peaks : lists) landmarks.push_back(dejavu_landmarks(peaks, profile));
  return landmarks;
}

}  // namespace spintag::fingerprint
