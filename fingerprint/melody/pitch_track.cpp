// fingerprint/melody/pitch_track.cpp - YIN's candidates for every frame and the best path through
// them.
#include "fingerprint/melody/pitch_track.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/multiversion.h"

namespace spintag::fingerprint {
namespace {

constexpr int kLowestRate = 8000;
constexpr int kHighestRate = 48000;
/// Frames of the path for one of the contour: a glide between two notes takes a few of them.
constexpr int kPathFrames = 2;
constexpr std::size_t kCandidates = 8;
/// The pitch whose octave cost is 0.
constexpr double kOctavesFrom_hz = 200;

/// Mono sound at 8 to 16 kHz without what is above the cutoff.
struct Prepared {
  std::vector<float> samples;
  double rate_hz = 0;
};

/// Low-pass by a Hann-windowed sinc, keeping every n-th sample.
Prepared low_pass(std::span<const float> samples, int rate_hz, float cutoff_hz) {
  const int keep_every = rate_hz / kLowestRate;
  const auto half = static_cast<std::ptrdiff_t>(1.5 * rate_hz / cutoff_hz);
  std::vector<float> taps;
  for (std::ptrdiff_t i = -half; i <= half; ++i) {
    const double x = std::numbers::pi * 2 * cutoff_hz / rate_hz * static_cast<double>(i);
    const double hann = 0.5 + 0.5 * std::cos(std::numbers::pi * static_cast<double>(i) /
                                             static_cast<double>(half + 1));
    taps.push_back(static_cast<float>((i == 0 ? 1 : std::sin(x) / x) * hann));
  }
  float sum = 0;
  for (const float tap : taps) sum += tap;
  Prepared out{.samples = {}, .rate_hz = static_cast<double>(rate_hz) / keep_every};
  const auto count = static_cast<std::ptrdiff_t>(samples.size());
  for (std::ptrdiff_t at = 0; at < count; at += keep_every) {
    const std::ptrdiff_t from = std::max<std::ptrdiff_t>(0, at - half);
    const std::ptrdiff_t to = std::min(count - 1, at + half);
    float value = 0;
    for (std::ptrdiff_t i = from; i <= to; ++i) value += taps[i - at + half] * samples[i];
    out.samples.push_back(value / sum);
  }
  return out;
}

/// products[lag] = sum over j < window of x[j] x[j + lag]. The sum runs outside, so that lags are
/// lanes and the order of the additions does not depend on their number.
SPINTAG_CLONES void correlate(const float* __restrict x, std::size_t window, std::size_t lags,
                              float* __restrict products) {
  for (std::size_t lag = 0; lag < lags; ++lag) products[lag] = 0;
  for (std::size_t j = 0; j < window; ++j) {
    const float* __restrict shifted = x + j;
    const float value = x[j];
    for (std::size_t lag = 0; lag < lags; ++lag) products[lag] += value * shifted[lag];
  }
}

/// One possible pitch of one frame; of the unvoiced one only the cost counts.
struct Candidate {
  float pitch = 0;  ///< semitones; 0 = unvoiced
  float cost = 0;
};

struct PathFrame {
  std::array<Candidate, kCandidates + 1> candidates;  ///< the unvoiced one first
  std::size_t count = 1;
};

/// YIN on one frame after another.
class Yin {
 public:
  Yin(const Prepared& sound, const PitchParams& params)
      : sound_(sound),
        params_(params),
        window_(static_cast<std::size_t>(params.window_s * sound.rate_hz)),
        min_lag_(static_cast<std::size_t>(sound.rate_hz / params.max_hz)),
        max_lag_(static_cast<std::size_t>(sound.rate_hz / params.min_hz) + 1),
        x_(window_ + max_lag_ + 1),
        difference_(max_lag_ + 1) {}

  /// Power of the frame around a time.
  float load(double centre_s) {
    const auto first = static_cast<std::ptrdiff_t>(std::lround(centre_s * sound_.rate_hz)) -
                       static_cast<std::ptrdiff_t>(x_.size() / 2);
    const auto count = static_cast<std::ptrdiff_t>(sound_.samples.size());
    float power = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const std::ptrdiff_t at = first + static_cast<std::ptrdiff_t>(i);
      x_[i] = at >= 0 && at < count ? sound_.samples[at] : 0;
      power += x_[i] * x_[i];
    }
    return power / static_cast<float>(x_.size());
  }

  /// Adds the minima of the normalised difference of the frame that was loaded.
  void find_candidates(PathFrame& frame) {
    normalised_difference();
    for (std::size_t lag = std::max<std::size_t>(min_lag_, 2); lag < max_lag_; ++lag) {
      const float here = difference_[lag];
      if (here > difference_[lag - 1] || here >= difference_[lag + 1]) continue;
      add(frame, candidate_at(lag));
    }
  }

 private:
  /// de Cheveigné and Kawahara 2002, eq. 6 and 8: d(t) = sum over j of (x[j] - x[j + t])^2, and
  /// d'(t) = d(t) / (mean of d(1) ... d(t)).
  void normalised_difference() {
    correlate(x_.data(), window_, max_lag_ + 1, difference_.data());
    double own = 0;
    for (std::size_t j = 0; j < window_; ++j) own += double{x_[j]} * x_[j];
    double shifted = own;
    double sum = 0;
    difference_[0] = 1;
    for (std::size_t lag = 1; lag <= max_lag_; ++lag) {
      const double in = x_[lag + window_ - 1];
      const double out = x_[lag - 1];
      shifted += in * in - out * out;
      const double d = std::max(0.0, own + shifted - 2.0 * difference_[lag]);
      sum += d;
      difference_[lag] = sum > 0 ? static_cast<float>(d * static_cast<double>(lag) / sum) : 1.0F;
    }
  }

  /// The parabola through a minimum and its neighbours says where between lags it lies, and how
  /// low.
  Candidate candidate_at(std::size_t lag) const {
    const float before = difference_[lag - 1];
    const float here = difference_[lag];
    const float after = difference_[lag + 1];
    const float curvature = before - 2 * here + after;
    const float shift = curvature > 0 ? 0.5F * (before - after) / curvature : 0;
    const float low = here - 0.25F * (before - after) * shift;
    const double period_s = (static_cast<double>(lag) + shift) / sound_.rate_hz;
    const double octaves = std::log2(period_s * kOctavesFrom_hz);
    return {static_cast<float>(69 - 12 * std::log2(440 * period_s)),
            low + params_.octave_cost * static_cast<float>(octaves)};
  }

  /// Keeps the cheapest.
  static void add(PathFrame& frame, const Candidate& candidate) {
    if (frame.count <= kCandidates) {
      frame.candidates[frame.count++] = candidate;
      return;
    }
    const auto worst = std::max_element(frame.candidates.begin() + 1, frame.candidates.end(),
                                        [](auto& a, auto& b) { return a.cost < b.cost; });
    if (candidate.cost < worst->cost) *worst = candidate;
  }

  const Prepared& sound_;
  const PitchParams& params_;
  std::size_t window_;
  std::size_t min_lag_;
  std::size_t max_lag_;
  std::vector<float> x_;
  std::vector<float> difference_;
};

float change_cost(const Candidate& from, const Candidate& to, const PitchParams& params) {
  if (from.pitch <= 0 && to.pitch <= 0) return 0;
  if (from.pitch <= 0 || to.pitch <= 0) return params.turn_cost;
  return std::min(params.glide_limit, params.glide_cost * std::abs(from.pitch - to.pitch));
}

/// The pitches of the cheapest path (Viterbi).
std::vector<float> cheapest_path(const std::vector<PathFrame>& frames, const PitchParams& params) {
  std::vector<std::array<std::size_t, kCandidates + 1>> came_from(frames.size());
  std::array<float, kCandidates + 1> cost{};
  for (std::size_t t = 0; t < frames.size(); ++t) {
    std::array<float, kCandidates + 1> next{};
    for (std::size_t to = 0; to < frames[t].count; ++to) {
      const Candidate& candidate = frames[t].candidates[to];
      std::optional<float> best;
      for (std::size_t from = 0; t > 0 && from < frames[t - 1].count; ++from) {
        const float sum =
            cost[from] + change_cost(frames[t - 1].candidates[from], candidate, params);
        if (best && *best <= sum) continue;
        best = sum;
        came_from[t][to] = from;
      }
      next[to] = best.value_or(0) + candidate.cost;
    }
    cost = next;
  }
  std::vector<float> pitches(frames.size());
  if (frames.empty()) return pitches;
  auto at = static_cast<std::size_t>(
      std::min_element(cost.begin(), cost.begin() + frames.back().count) - cost.begin());
  for (std::size_t t = frames.size(); t-- > 0; at = came_from[t][at]) {
    pitches[t] = frames[t].candidates[at].pitch;
  }
  return pitches;
}

/// Median of three where all three are voiced: one frame astray is no note.
std::vector<float> smooth(const std::vector<float>& pitches) {
  std::vector<float> out = pitches;
  for (std::size_t i = 1; i + 1 < pitches.size(); ++i) {
    const float a = pitches[i - 1];
    const float b = pitches[i];
    const float c = pitches[i + 1];
    if (a > 0 && b > 0 && c > 0) out[i] = std::max(std::min(a, b), std::min(std::max(a, b), c));
  }
  return out;
}

}  // namespace

Contour track_pitch(std::span<const float> samples, int rate_hz, const PitchParams& params) {
  if (rate_hz < kLowestRate || rate_hz > kHighestRate) {
    throw std::invalid_argument("a pitch track needs 8000 to 48000 samples a second, not " +
                                std::to_string(rate_hz));
  }
  const Prepared sound = low_pass(samples, rate_hz, params.cutoff_hz);
  Yin yin(sound, params);
  const double frames_a_second = kContourRate * kPathFrames;
  const auto contour_frames =
      static_cast<std::size_t>(static_cast<double>(samples.size()) / rate_hz * kContourRate);
  const std::size_t count = contour_frames * kPathFrames;
  const auto centre_s = [&](std::size_t frame) {
    return (static_cast<double>(frame) + 0.5) / frames_a_second;
  };
  float loudest = 0;
  for (std::size_t t = 0; t < count; ++t) loudest = std::max(loudest, yin.load(centre_s(t)));
  const float floor = loudest * std::pow(10.0F, params.silence_db / 10);
  std::vector<PathFrame> frames(count);
  for (std::size_t t = 0; t < count; ++t) {
    frames[t].candidates[0] = {0, params.unvoiced_cost};
    if (yin.load(centre_s(t)) > floor) yin.find_candidates(frames[t]);
  }
  const std::vector<float> path = smooth(cheapest_path(frames, params));
  Contour contour(contour_frames);
  for (std::size_t i = 0; i < contour_frames; ++i) {
    const float a = path[2 * i];
    const float b = path[2 * i + 1];
    contour[i] = a > 0 && b > 0 ? 0.5F * (a + b) : std::max(a, b);
  }
  return contour;
}

}  // namespace spintag::fingerprint
