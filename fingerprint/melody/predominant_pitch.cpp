// fingerprint/melody/predominant_pitch.cpp - the best path through the salient pitches of a mix.
#include "fingerprint/melody/predominant_pitch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "fingerprint/melody/salience.h"
#include "kernels/stft.h"

namespace spintag::fingerprint {
namespace {

constexpr std::size_t kFrameSamples = 2048;  // 186 ms: thirds are apart from 150 Hz on
constexpr double kBinHz = static_cast<double>(PredominantPitch::kRateHz) / kFrameSamples;
constexpr std::size_t kFirstBin = 8;                        // 43 Hz
constexpr std::size_t kBins = 640;                          // to 3.5 kHz
constexpr std::size_t kStates = SalientPitches::kMost + 1;  // the unvoiced one is the last

SalienceParams salience_params(const PredominantParams& params) {
  return {.bin_hz = kBinHz,
          .first_bin = kFirstBin,
          .lowest = PredominantPitch::kLowest,
          .highest = PredominantPitch::kHighest,
          .harmonics = params.harmonics,
          .harmonic_weight = params.harmonic_weight,
          .compression = params.compression,
          .peak_range_db = params.peak_range_db,
          .low_cut_hz = params.low_cut_hz};
}

/// The salience that half of the frames in which anything sounds reach.
float usual_salience(const std::vector<SalientPitches>& frames) {
  std::vector<float> greatest;
  for (const SalientPitches& frame : frames) {
    if (frame.greatest > 0) greatest.push_back(frame.greatest);
  }
  if (greatest.empty()) return 0;
  const auto middle = greatest.begin() + static_cast<std::ptrdiff_t>(greatest.size() / 2);
  std::nth_element(greatest.begin(), middle, greatest.end());
  return *middle;
}

/// The cheapest path through the frames' pitches.
class Path {
 public:
  Path(const std::vector<SalientPitches>& frames, const PredominantParams& params)
      : frames_(frames),
        params_(params),
        floor_(params.unvoiced_salience * usual_salience(frames)) {}

  Contour find() {
    Contour contour(frames_.size());
    if (frames_.empty()) return contour;
    std::vector<std::array<std::uint8_t, kStates>> came_from(frames_.size());
    std::array<float, kStates> costs = own_costs(frames_[0]);
    for (std::size_t t = 1; t < frames_.size(); ++t) costs = step(t, costs, came_from[t]);
    auto at =
        static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
    for (std::size_t t = frames_.size(); t-- > 0; at = came_from[t][at]) {
      if (at + 1 < kStates) contour[t] = frames_[t].pitches[at].pitch;
    }
    return contour;
  }

 private:
  static constexpr float kNever = std::numeric_limits<float>::infinity();

  std::array<float, kStates> own_costs(const SalientPitches& frame) const {
    std::array<float, kStates> costs;
    costs.fill(kNever);
    const bool nothing =
        frame.count == 0 || frame.greatest < floor_ || frame.crest < params_.least_crest;
    costs.back() = nothing ? 0 : params_.unvoiced_cost;
    if (nothing) return costs;
    for (std::size_t i = 0; i < frame.count; ++i) {
      const SalientPitch& pitch = frame.pitches[i];
      costs[i] = 1 - pitch.salience / frame.greatest +
                 params_.low_cost * std::max(0.0F, params_.high_pitch - pitch.pitch);
    }
    return costs;
  }

  std::array<float, kStates> step(std::size_t t, const std::array<float, kStates>& before,
                                  std::array<std::uint8_t, kStates>& came_from) const {
    const SalientPitches& last = frames_[t - 1];
    const SalientPitches& now = frames_[t];
    std::array<float, kStates> costs = own_costs(now);
    for (std::size_t to = 0; to < kStates; ++to) {
      if (costs[to] == kNever) continue;
      float best = kNever;
      for (std::size_t from = 0; from < kStates; ++from) {
        if (before[from] == kNever) continue;
        const float cost = before[from] + change_cost(last, from, now, to);
        if (cost >= best) continue;
        best = cost;
        came_from[to] = static_cast<std::uint8_t>(from);
      }
      costs[to] += best;
    }
    return costs;
  }

  float change_cost(const SalientPitches& last, std::size_t from, const SalientPitches& now,
                    std::size_t to) const {
    const bool was_voiced = from + 1 < kStates;
    const bool is_voiced = to + 1 < kStates;
    if (was_voiced != is_voiced) return params_.turn_cost;
    if (!is_voiced) return 0;
    const float moved = std::abs(last.pitches[from].pitch - now.pitches[to].pitch);
    return std::min(params_.glide_limit, params_.glide_cost * moved);
  }

  const std::vector<SalientPitches>& frames_;
  const PredominantParams& params_;
  float floor_;
};

}  // namespace

struct PredominantPitch::State {
  explicit State(const PredominantParams& given)
      : params(given),
        stft({.frame_samples = kFrameSamples,
              .hop_samples = 1,
              .first_bin = kFirstBin,
              .bins = kBins}),
        salience(salience_params(given)),
        power(kBins) {
    reset();
  }

  void reset() {
    frames.clear();
    samples.assign(kFrameSamples / 2, 0.0F);  // before the first sample is silence
    first = -static_cast<std::int64_t>(kFrameSamples / 2);
    pushed = 0;
  }

  /// Sample at which the next frame begins.
  std::int64_t next_begin() const {
    const double centre_s = (static_cast<double>(frames.size()) + 0.5) / kContourRate;
    return std::llround(centre_s * kRateHz) - static_cast<std::int64_t>(kFrameSamples / 2);
  }

  void work_off(std::size_t most) {
    std::size_t at = 0;
    while (frames.size() < most) {
      at = static_cast<std::size_t>(next_begin() - first);
      if (at + kFrameSamples > samples.size()) break;
      stft.power_spectrum(samples.data() + at, power.data());
      frames.push_back(salience.pitches(power));
    }
    at = std::min(at, samples.size());
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(at));
    first += static_cast<std::int64_t>(at);
  }

  PredominantParams params;
  kernels::Stft stft;
  Salience salience;
  std::vector<float> power;
  std::vector<float> samples;  ///< from `first` on
  std::int64_t first = 0;
  std::int64_t pushed = 0;
  std::vector<SalientPitches> frames;
};

PredominantPitch::PredominantPitch(const PredominantParams& params)
    : state_(std::make_unique<State>(params)) {}
PredominantPitch::~PredominantPitch() = default;
PredominantPitch::PredominantPitch(PredominantPitch&&) noexcept = default;
PredominantPitch& PredominantPitch::operator=(PredominantPitch&&) noexcept = default;

void PredominantPitch::push(std::span<const float> samples) {
  state_->samples.insert(state_->samples.end(), samples.begin(), samples.end());
  state_->pushed += static_cast<std::int64_t>(samples.size());
  state_->work_off(SIZE_MAX);
}

Contour PredominantPitch::finish() {
  const auto count =
      static_cast<std::size_t>(static_cast<double>(state_->pushed) / kRateHz * kContourRate);
  state_->samples.insert(state_->samples.end(), kFrameSamples, 0.0F);
  state_->work_off(count);
  state_->frames.resize(std::min(state_->frames.size(), count));
  Contour contour = Path(state_->frames, state_->params).find();
  state_->reset();
  return contour;
}

Contour predominant_pitch(std::span<const float> samples, const PredominantParams& params) {
  PredominantPitch pitch(params);
  pitch.push(samples);
  return pitch.finish();
}

}  // namespace spintag::fingerprint
