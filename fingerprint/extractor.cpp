// fingerprint/extractor.cpp - spectrogram, peak finder and the density limit of each second, in the
// order the data flows.
#include "fingerprint/extractor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fingerprint/peak_finder.h"
#include "fingerprint/profile.h"
#include "kernels/stft.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

/// Time of a frame's centre.
double frame_time(std::int64_t frame) {
  return static_cast<double>(frame) * Profile::frame_s() +
         0.5 * Profile::frame_samples / Profile::rate_hz;
}

}  // namespace

struct PeakExtractor::State {
  State()
      : stft({.frame_samples = Profile::frame_samples,
              .hop_samples = Profile::hop_samples,
              .first_bin = BinRange::first,
              .bins = BinRange::count,
              .scale = kernels::PowerScale::kFullScaleSine}) {
    samples.reserve(kBatchSamples + Profile::frame_samples);
  }

  void take_frames(std::vector<Peak>& peaks);
  void release_seconds(std::vector<Peak>& peaks, bool all);
  void release(std::vector<Peak>::iterator end, std::vector<Peak>& peaks);

  static constexpr std::size_t kBatchSamples = 64 * Profile::hop_samples;

  kernels::Stft stft;
  PeakFinder finder;
  std::vector<float> samples;  ///< not yet covered by a frame, and the overlap of the next one
  std::array<float, BinRange::count> power{};
  std::array<float, BinRange::count> level_db{};
  std::vector<Peak> waiting;  ///< peaks of the seconds that are not complete
  std::vector<Peak> found;    ///< scratch: peaks of one frame
  std::int64_t second = 0;    ///< the second that `waiting` begins with
};

PeakExtractor::PeakExtractor() : state_(std::make_unique<State>()) {}
PeakExtractor::~PeakExtractor() = default;
PeakExtractor::PeakExtractor(PeakExtractor&&) noexcept = default;
PeakExtractor& PeakExtractor::operator=(PeakExtractor&&) noexcept = default;

void PeakExtractor::push(std::span<const float> samples, std::vector<Peak>& peaks) {
  while (!samples.empty()) {
    const std::size_t count = std::min(samples.size(), State::kBatchSamples);
    state_->samples.insert(state_->samples.end(), samples.begin(),
                           samples.begin() + static_cast<std::ptrdiff_t>(count));
    samples = samples.subspan(count);
    state_->take_frames(peaks);
  }
}

void PeakExtractor::finish(std::vector<Peak>& peaks) {
  State& state = *state_;
  state.finder.finish(state.waiting);
  state.release_seconds(peaks, true);
}

void PeakExtractor::reset() {
  State& state = *state_;
  state.finder.reset();
  state.samples.clear();
  state.waiting.clear();
  state.second = 0;
}

double PeakExtractor::final_until_s() const { return static_cast<double>(state_->second); }

void PeakExtractor::State::take_frames(std::vector<Peak>& peaks) {
  std::size_t begin = 0;
  for (; begin + Profile::frame_samples <= samples.size(); begin += Profile::hop_samples) {
    stft.power_spectrum(samples.data() + begin, power.data());
    kernels::power_to_db(power, Profile::power_offset, level_db);
    finder.push(level_db, waiting);
    release_seconds(peaks, false);
  }
  samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(begin));
}

/// A second is complete when the first frame of the next one has been looked at.
void PeakExtractor::State::release_seconds(std::vector<Peak>& peaks, bool all) {
  constexpr double kHalfFrame = 0.5 * Profile::frame_s();
  while (frame_time(finder.final_frames()) - kHalfFrame >= static_cast<double>(second + 1)) {
    const auto end = std::partition(waiting.begin(), waiting.end(), [this](const Peak& peak) {
      return peak.time_s < static_cast<double>(second + 1);
    });
    release(end, peaks);
    ++second;
  }
  if (all) release(waiting.end(), peaks);
}

/// Hands out the strongest of waiting[0, end), in time order.
void PeakExtractor::State::release(std::vector<Peak>::iterator end, std::vector<Peak>& peaks) {
  const auto begin = waiting.begin();
  auto kept = end;
  if (end - begin > Profile::dense_peaks_per_s) {
    kept = begin + Profile::dense_peaks_per_s;
    std::nth_element(begin, kept, end, [](const Peak& a, const Peak& b) {
      if (a.salience_db != b.salience_db) return a.salience_db > b.salience_db;
      return a.time_s != b.time_s ? a.time_s < b.time_s : a.freq_hz < b.freq_hz;
    });
  }
  std::sort(begin, kept, [](const Peak& a, const Peak& b) {
    return a.time_s != b.time_s ? a.time_s < b.time_s : a.freq_hz < b.freq_hz;
  });
  peaks.insert(peaks.end(), begin, kept);
  waiting.erase(begin, end);
}

}  // namespace spintag::fingerprint
