// daemon/sample_clock.h - when a sample of a stream was broadcast: the stream's own sample clock,
// anchored to the wall clock.
#pragma once

#include <chrono>

#include "db/store.h"

namespace spintag::daemon {

struct SampleClockParams {
  /// The anchor may move forward this fast: an encoder's crystal may run that much slow.
  double drift = 100e-6;
  /// What remains unknown when the network does not jitter at all: encoder and server hold audio
  /// back.
  double floor_accuracy_s = 0.25;
};

/// Sample time s arrives at wall time w, never before it was broadcast; so of all w - s the
/// smallest is nearest to the truth. A server that sends some seconds at once on connection
/// (Icecast's burst) makes the first samples late and the last of the burst right, which the
/// minimum understands too. Single-threaded; pure arithmetic.
class SampleClock {
 public:
  explicit SampleClock(const SampleClockParams& params = {}) : params_(params) {}

  /// @param stream_s  sample time at the end of what arrived; grows, with jumps after a
  /// reconnection
  /// @param wall      when it arrived
  void arrived(double stream_s, db::TimePoint wall);

  /// The connection was lost and found: the anchor is sought anew. Stream time goes on.
  void reconnected() { connected_ = false; }

  /// UTC of a stream time. Call it after the first arrived().
  db::TimePoint utc(double stream_s) const;
  /// Stream time of a UTC, the inverse.
  double stream_s(db::TimePoint utc) const;
  /// How far utc() may be off, seconds: the network's jitter now, and the floor.
  double accuracy_s() const { return params_.floor_accuracy_s + jitter_s_; }
  /// By how much the newest sample arrived later than the anchor says; 0 = in time.
  double lag_s() const { return lag_s_; }
  bool anchored() const { return anchored_; }

 private:
  SampleClockParams params_;
  bool anchored_ = false;
  bool connected_ = false;
  db::TimePoint anchor_{};  ///< UTC of stream time 0
  double last_stream_s_ = 0;
  double jitter_s_ = 0;  ///< smoothed lag
  double lag_s_ = 0;
};

}  // namespace spintag::daemon
