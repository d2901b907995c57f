// daemon/sample_clock.cpp - when a sample of a stream was broadcast.
#include "daemon/sample_clock.h"

#include <algorithm>
#include <cmath>

namespace spintag::daemon {

namespace {

using Micros = std::chrono::microseconds;

constexpr double kJitterMemory_s = 30;  // the lag is averaged over about as much of the stream

Micros micros(double seconds) {
  return Micros(static_cast<std::int64_t>(std::llround(seconds * 1e6)));
}

double seconds(Micros duration) { return static_cast<double>(duration.count()) * 1e-6; }

}  // namespace

void SampleClock::arrived(double stream_s, db::TimePoint wall) {
  const db::TimePoint candidate = wall - micros(stream_s);
  if (!connected_) {
    anchor_ = candidate;
    jitter_s_ = 0;
    lag_s_ = 0;
    connected_ = true;
    anchored_ = true;
    last_stream_s_ = stream_s;
    return;
  }
  const double step_s = std::max(0.0, stream_s - last_stream_s_);
  last_stream_s_ = stream_s;
  anchor_ = std::min(candidate, anchor_ + micros(step_s * params_.drift));
  lag_s_ = seconds(candidate - anchor_);
  const double weight = std::min(1.0, step_s / kJitterMemory_s);
  jitter_s_ += weight * (lag_s_ - jitter_s_);
}

db::TimePoint SampleClock::utc(double stream_s) const { return anchor_ + micros(stream_s); }

double SampleClock::stream_s(db::TimePoint utc) const { return seconds(utc - anchor_); }

}  // namespace spintag::daemon
