// daemon/tune_desk.cpp - whom stations ask which melody unknown music plays.
#include "daemon/tune_desk.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "daemon/events.h"
#include "fingerprint/melody/melody_confidence.h"
#include "fingerprint/melody/predominant_pitch.h"
#include "fingerprint/melody/tune_matcher.h"

namespace spintag::daemon {

namespace {

constexpr int kNice = 10;  // whatever recognises recordings goes first

void step_back() {
  ::pthread_setname_np(::pthread_self(), "melody");
  // On Linux a priority is a thread's own. That it cannot be lowered changes nothing but its share.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
}

}  // namespace

TuneDesk::TuneDesk(const StoreSite& site) : site_(site) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    step_back();
    work(stop);
  });
}

TuneDesk::~TuneDesk() {
  thread_.request_stop();
  thread_.join();
}

std::optional<TuneDesk::Answer> TuneDesk::ask(std::vector<float>&& samples) {
  const std::lock_guard lock(mutex_);
  if (busy_ || given_up_) return std::nullopt;
  busy_ = true;
  question_ = std::move(samples);
  promise_ = {};
  asked_.notify_one();
  return promise_.get_future();
}

void TuneDesk::work(const std::stop_token& stop) {
  for (;;) {
    std::vector<float> samples;
    {
      std::unique_lock lock(mutex_);
      if (!asked_.wait(lock, stop, [&] { return !question_.empty(); })) break;
      samples = std::exchange(question_, {});
    }
    std::optional<TuneGuess> guess;
    bool too_many = false;
    try {
      guess = answer(samples, stop);
      problem_.clear();
    } catch (const TuneBook::Interrupted&) {
      // The loop ends next.
    } catch (const TuneBook::TooMany& error) {
      spdlog::warn("unknown music is not compared with melodies until the next start: {}",
                   error.what());
      book_ = TuneBook();
      too_many = true;
    } catch (const std::exception& error) {  // a store that is away comes back
      if (problem_ != error.what()) {
        spdlog::warn("unknown music is not compared with melodies: {}", error.what());
      }
      problem_ = error.what();
    }
    const std::lock_guard lock(mutex_);
    busy_ = false;
    given_up_ = too_many;
    promise_.set_value(std::move(guess));
  }
  // Whoever asked last is not left waiting.
  const std::lock_guard lock(mutex_);
  if (busy_) promise_.set_value(std::nullopt);
}

std::optional<TuneGuess> TuneDesk::answer(const std::vector<float>& samples,
                                          const std::stop_token& stop) {
  if (!store_) store_.emplace(site_.open());
  book_.refresh(*store_, stop, [](const std::string& fault) { spdlog::warn("{}", fault); });
  const auto found =
      fingerprint::TuneMatcher(book_.index()).match(fingerprint::predominant_pitch(samples), stop);
  if (!found) return std::nullopt;
  const std::optional<db::Track> track = store_->find_track(book_.track_of(found->best.melody));
  if (!track) return std::nullopt;  // removed meanwhile
  TuneGuess guess;
  guess.track_id = track->track_id;
  guess.track_json = track_json(*track);
  guess.confidence = fingerprint::melody_confidence(*found);
  guess.track_start_s = found->best.start_s;
  guess.speed = found->best.tempo;
  guess.pitch = std::exp2(found->best.key / 12.0);
  return guess;
}

}  // namespace spintag::daemon
