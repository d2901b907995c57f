// fingerprint/audio/interrupt.h - what ends a blocking call: a deadline or a request to stop.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

namespace spintag::fingerprint {

/// Asked by libav and by FdInput about every 50 to 100 ms while they wait. One thread; the stop may
/// come from any other. libav keeps its address.
class Interrupt {
 public:
  explicit Interrupt(std::stop_token stop) : stop_(std::move(stop)) {}
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Starts the clock of the next blocking call. A deadline that has once ended a call stays
  /// passed: libav's input is broken by it, though a demuxer may still hand out what it had.
  void arm(std::chrono::milliseconds deadline) {
    deadline_ = deadline;
    until_ = std::chrono::steady_clock::now() + deadline;
  }

  bool should_end() {
    expired_ = expired_ || std::chrono::steady_clock::now() > until_;
    return expired_ || stopped();
  }

  bool stopped() const { return stop_.stop_requested(); }

  /// A call was ended because its deadline had passed (not merely: the deadline has passed by now).
  bool expired() const { return expired_; }

  /// The deadline for people: "15 s", "0.300 s".
  std::string deadline_text() const {
    const auto rest_ms = deadline_.count() % 1000;
    const std::string fraction = rest_ms == 0 ? "" : "." + std::to_string(1000 + rest_ms).substr(1);
    return std::to_string(deadline_.count() / 1000) + fraction + " s";
  }

  /// In the form that AVIOInterruptCB wants.
  static int ask(void* interrupt) {
    return static_cast<Interrupt*>(interrupt)->should_end() ? 1 : 0;
  }

 private:
  std::stop_token stop_;
  std::chrono::milliseconds deadline_{0};
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::time_point::max();
  bool expired_ = false;
};

}  // namespace spintag::fingerprint
