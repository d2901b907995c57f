// fingerprint/extractor.cpp - spectrogram, peak finder and the density limit of each second, in the
// order the data flows.
#include "fingerprint/extractor.h"

#include <algorithm>
#include <array>

#include "fingerprint/density_limit.h"
#include "fingerprint/peak_finder.h"
#include "fingerprint/profile.h"
#include "kernels/stft.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

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

  void take_frames(std::vector<Peak>& peaks, LevelMap* levels);

  static constexpr std::size_t kBatchSamples = 64 * Profile::hop_samples;

  kernels::Stft stft;
  PeakFinder finder;
  std::vector<float> samples;  ///< not yet covered by a frame, and the overlap of the next one
  std::array<float, BinRange::count> power{};
  std::array<float, BinRange::count> level_db{};
  DensityLimit limit;
};

PeakExtractor::PeakExtractor() : state_(std::make_unique<State>()) {}
PeakExtractor::~PeakExtractor() = default;
PeakExtractor::PeakExtractor(PeakExtractor&&) noexcept = default;
PeakExtractor& PeakExtractor::operator=(PeakExtractor&&) noexcept = default;

void PeakExtractor::push(std::span<const float> samples, std::vector<Peak>& peaks,
                         LevelMap* levels) {
  while (!samples.empty()) {
    const std::size_t count = std::min(samples.size(), State::kBatchSamples);
    state_->samples.insert(state_->samples.end(), samples.begin(),
                           samples.begin() + static_cast<std::ptrdiff_t>(count));
    samples = samples.subspan(count);
    state_->take_frames(peaks, levels);
  }
}

void PeakExtractor::preview(std::vector<Peak>& peaks, LevelMap* levels) const {
  PeakFinder finder = state_->finder;
  DensityLimit limit = state_->limit;
  finder.finish(limit.waiting(), levels);
  limit.finish(finder.final_frames(), peaks);
}

void PeakExtractor::finish(std::vector<Peak>& peaks, LevelMap* levels) {
  State& state = *state_;
  state.finder.finish(state.limit.waiting(), levels);
  state.limit.finish(state.finder.final_frames(), peaks);
}

void PeakExtractor::reset() {
  State& state = *state_;
  state.finder.reset();
  state.samples.clear();
  state.limit.reset();
}

double PeakExtractor::final_until_s() const { return static_cast<double>(state_->limit.second()); }

void PeakExtractor::State::take_frames(std::vector<Peak>& peaks, LevelMap* levels) {
  std::size_t begin = 0;
  for (; begin + Profile::frame_samples <= samples.size(); begin += Profile::hop_samples) {
    stft.power_spectrum(samples.data() + begin, power.data());
    kernels::power_to_db(power, Profile::power_offset, level_db);
    finder.push(level_db, limit.waiting(), levels);
    limit.release(finder.final_frames(), peaks);
  }
  samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace spintag::fingerprint
