// daemon/tune_watch.cpp - when the unknown music of a station is worth a question.
#include "daemon/tune_watch.h"

#include <algorithm>

#include "fingerprint/melody/predominant_pitch.h"

namespace spintag::daemon {

namespace {

constexpr double kRateHz = fingerprint::PredominantPitch::kRateHz;

}  // namespace

void TuneWatch::push(std::span<const float> samples, bool known) {
  heard_s_ += static_cast<double>(samples.size()) / kRateHz;
  if (known) {
    samples_ = {};  // its memory, too: a station is known most of the time
    return;
  }
  const auto most = static_cast<std::size_t>(params_.window_s * kRateHz);
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  // Cut in large pieces, so that moving the rest costs next to nothing.
  if (samples_.size() > most + most / 4) {
    samples_.erase(samples_.begin(), samples_.end() - static_cast<std::ptrdiff_t>(most));
  }
}

bool TuneWatch::due(double unknown_for_s) const {
  return unknown_for_s > params_.unknown_s && heard_s_ >= not_before_ &&
         static_cast<double>(samples_.size()) >= params_.unknown_s * kRateHz;
}

std::vector<float> TuneWatch::take() {
  const auto most = static_cast<std::size_t>(params_.window_s * kRateHz);
  const std::size_t count = std::min(most, samples_.size());
  not_before_ = heard_s_ + params_.every_s;
  return {samples_.end() - static_cast<std::ptrdiff_t>(count), samples_.end()};
}

void TuneWatch::put_off() { not_before_ = heard_s_ + 1; }

}  // namespace spintag::daemon
