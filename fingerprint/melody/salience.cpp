// fingerprint/melody/salience.cpp - harmonic summation over interpolated spectral peaks.
#include "fingerprint/melody/salience.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/multiversion.h"
#include "kernels/stft.h"

namespace spintag::fingerprint {
namespace {

constexpr float kLeastPower = 1e-12F;          // -120 dB of full scale: nothing sounds
constexpr float kOctavesPerDb = 0.166096405F;  // of amplitude: 1 / (20 log10(2))
constexpr std::size_t kMargin = 16;  // steps beyond both ends that may be written and are not read

SPINTAG_CLONES void weigh(const float* __restrict power, const float* __restrict weights,
                          std::size_t count, float* __restrict weighted) {
  for (std::size_t i = 0; i < count; ++i) weighted[i] = power[i] * weights[i];
}

}  // namespace

Salience::Salience(const SalienceParams& params) : params_(params) {
  steps_ = static_cast<std::size_t>(
      std::lround((params.highest - params.lowest) * static_cast<float>(kSteps)));
  for (int h = 1; h <= params.harmonics; ++h) {
    harmonic_offsets_.push_back(static_cast<float>(12 * kSteps * std::log2(h)));
    harmonic_weights_.push_back(
        static_cast<float>(std::pow(params.harmonic_weight, static_cast<double>(h - 1))));
  }
  // Salamon and Gomez 2012, eq. (4): cos^2(delta pi / 2) for |delta| <= 1, in semitones.
  for (int fraction = 0; fraction <= kFractions; ++fraction) {
    const double beyond = static_cast<double>(fraction) / kFractions;
    for (int i = 0; i < 2 * kHalfWidth + 2; ++i) {
      const double delta = (i - kHalfWidth - beyond) / kSteps;
      const double value = std::cos(delta * std::numbers::pi / 2);
      bells_[fraction][i] = std::abs(delta) < 1 ? static_cast<float>(value * value) : 0.0F;
    }
  }
  salience_.resize(steps_ + 2 * kMargin);
}

SalientPitches Salience::pitches(std::span<const float> power) {
  const float crest = find_peaks(power);
  add_harmonics();
  SalientPitches found = find_maxima();
  found.crest = crest;
  return found;
}

void Salience::tabulate(std::size_t bins) {
  bin_weights_.resize(bins);
  bin_steps_.resize(bins);
  weighted_.resize(bins);
  levels_.resize(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    const double hz = static_cast<double>(params_.first_bin + i) * params_.bin_hz;
    const double share = hz / params_.low_cut_hz;
    bin_weights_[i] = static_cast<float>(std::min(1.0, share * share));
    const double semitone = 69 + 12 * std::log2(std::max(hz, 1.0) / 440);
    bin_steps_[i] = static_cast<float>(kSteps * (semitone - params_.lowest));
  }
}

float Salience::find_peaks(std::span<const float> power) {
  if (bin_weights_.size() != power.size()) tabulate(power.size());
  weigh(power.data(), bin_weights_.data(), power.size(), weighted_.data());
  peaks_.clear();
  const float strongest =
      weighted_.empty() ? 0 : *std::max_element(weighted_.begin(), weighted_.end());
  const float floor =
      std::max(kLeastPower, strongest * std::pow(10.0F, -params_.peak_range_db / 10));
  kernels::power_to_db(weighted_, kLeastPower, levels_);
  for (std::size_t i = 1; i + 1 < weighted_.size(); ++i) {
    const float here = weighted_[i];
    if (here < floor || here <= weighted_[i - 1] || here < weighted_[i + 1]) continue;
    // The parabola through the levels of a maximum and its neighbours.
    const float before = levels_[i - 1];
    const float after = levels_[i + 1];
    const float curvature = before - 2 * levels_[i] + after;
    const float shift = curvature < 0 ? 0.5F * (before - after) / curvature : 0;
    const float level_db = levels_[i] - 0.25F * (before - after) * shift;
    peaks_.push_back({bin_steps_[i] + shift * (bin_steps_[i + (shift > 0 ? 1 : 0)] -
                                               bin_steps_[i - (shift > 0 ? 0 : 1)]),
                      std::exp2(params_.compression * level_db * kOctavesPerDb)});
  }
  float sum = 0;
  for (const float value : weighted_) sum += value;
  return sum > 0 ? strongest * static_cast<float>(weighted_.size()) / sum : 0;
}

void Salience::add_harmonics() {
  std::fill(salience_.begin(), salience_.end(), 0.0F);
  const auto end = static_cast<float>(steps_);
  for (const Peak& peak : peaks_) {
    for (std::size_t h = 0; h < harmonic_offsets_.size(); ++h) {
      const float at = peak.step - harmonic_offsets_[h];
      if (at < 0) break;
      if (at >= end) continue;
      const auto whole = static_cast<std::size_t>(at);
      const auto fraction =
          static_cast<std::size_t>((at - static_cast<float>(whole)) * kFractions + 0.5F);
      const auto& bell = bells_[fraction];
      float* const around = salience_.data() + kMargin + whole - kHalfWidth;
      const float weight = peak.strength * harmonic_weights_[h];
      for (std::size_t i = 0; i < bell.size(); ++i) around[i] += weight * bell[i];
    }
  }
}

SalientPitches Salience::find_maxima() const {
  SalientPitches found;
  const float* const salience = salience_.data() + kMargin;
  for (std::size_t i = 0; i < steps_; ++i) {
    const float here = salience[i];
    const float before = salience[static_cast<std::ptrdiff_t>(i) - 1];
    const float after = salience[i + 1];
    if (here <= 0 || here <= before || here < after) continue;
    const float curvature = before - 2 * here + after;
    const float shift = curvature < 0 ? 0.5F * (before - after) / curvature : 0;
    const SalientPitch pitch{params_.lowest + (static_cast<float>(i) + shift) / kSteps, here};
    found.greatest = std::max(found.greatest, here);
    if (found.count < SalientPitches::kMost) {
      found.pitches[found.count++] = pitch;
      continue;
    }
    const auto least =
        std::min_element(found.pitches.begin(), found.pitches.end(),
                         [](const auto& a, const auto& b) { return a.salience < b.salience; });
    if (least->salience < here) *least = pitch;
  }
  return found;
}

}  // namespace spintag::fingerprint
