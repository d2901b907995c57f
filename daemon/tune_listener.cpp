// daemon/tune_listener.cpp - a station's unknown music, asked about and remembered until it is
// over.
#include "daemon/tune_listener.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "fingerprint/melody/melody_confidence.h"
#include "fingerprint/melody/predominant_pitch.h"

namespace spintag::daemon {

namespace {

constexpr std::size_t kGuessesKept = 8;

}  // namespace

std::optional<TuneGuess> TuneListener::push(std::span<const float> samples,
                                            const UnknownMusic& state) {
  if (!ask_) return std::nullopt;
  watch_.push(samples, state.known);
  if (state.since_s != segment_s_) {
    segment_s_ = state.since_s;
    guesses_.clear();
    told_.clear();
  }
  std::optional<TuneGuess> news;
  if (question_ &&
      question_->answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    const std::optional<TuneGuess> guess = question_->answer.get();
    if (guess && segment_s_ == question_->segment_s) news = take(*guess, question_->from_s);
    question_.reset();
  }
  if (!question_ && state.since_s && watch_.due(state.now_s - *state.since_s)) ask(state);
  return news;
}

void TuneListener::ask(const UnknownMusic& state) {
  std::vector<float> samples = watch_.take();
  const double length_s =
      static_cast<double>(samples.size()) / fingerprint::PredominantPitch::kRateHz;
  auto answer = ask_(std::move(samples));
  if (!answer) return watch_.put_off();
  ++asked_;
  question_ = Question{std::move(*answer), *state.since_s, state.now_s - length_s};
}

std::optional<TuneGuess> TuneListener::take(const TuneGuess& guess, double from_s) {
  double doubt = 1 - guess.confidence;
  std::size_t agreeing = 1;
  for (const auto& [before, before_from_s] : guesses_) {
    const double expected_s = before.track_start_s + (from_s - before_from_s) * before.speed;
    if (before.track_id == guess.track_id &&
        std::abs(guess.track_start_s - expected_s) < params_.same_place_s) {
      doubt *= 1 - before.confidence;
      ++agreeing;
    }
  }
  guesses_.emplace_back(guess, from_s);
  if (guesses_.size() > kGuessesKept) guesses_.erase(guesses_.begin());
  TuneGuess surer = guess;
  surer.confidence = std::max(guess.confidence, std::min(fingerprint::kSurestMelody, 1 - doubt));
  if (surer.confidence < params_.min_confidence || agreeing < params_.agreeing ||
      std::ranges::find(told_, guess.track_id) != told_.end()) {
    return std::nullopt;
  }
  told_.push_back(guess.track_id);
  return surer;
}

}  // namespace spintag::daemon
