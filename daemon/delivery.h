// daemon/delivery.h - takes events from the outbox and gives them to their sinks, until each has
// arrived or is given up.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.h"
#include "daemon/status_board.h"

namespace spintag::daemon {

struct DeliveryParams {
  /// Wait before the n-th attempt, counted from the failure of the one before. After the last one
  /// fails: dead letter.
  std::vector<std::chrono::milliseconds> attempt_delays = {
      std::chrono::seconds(0),  std::chrono::seconds(5), std::chrono::minutes(5),
      std::chrono::minutes(30), std::chrono::hours(2),   std::chrono::hours(5),
      std::chrono::hours(10),   std::chrono::hours(14),  std::chrono::hours(20),
      std::chrono::hours(24)};
  double jitter = 0.1;  ///< each wait is lengthened by up to this share of itself
  std::chrono::milliseconds poll{
      1'000};  ///< between looks at the outbox when nobody calls notify()
  std::chrono::milliseconds max_outage_wait{
      30'000};                             ///< between attempts to reach a database that is away
  std::chrono::hours max_retry_after{24};  ///< a longer Retry-After is taken as this
  std::string ca_file;  ///< PEM to verify https sinks against; empty = the system's
};

/// Runs one thread ("deliver-<sink>") and one connection to the store for each sink, so that a slow
/// or broken sink holds up nobody else. At least once: an event whose acknowledgement was lost is
/// sent again under the same webhook-id. A sink that answers 410 is disabled until the next start,
/// and its events become dead letters as they fall due. State events older than their sink's
/// max_age are dropped and counted. While the database is away, threads wait for it with growing
/// delays, and results not yet marked are kept and marked when it is back.
class DeliveryWorker {
 public:
  /// Starts at once. `board` must outlive this. Throws nothing for a database that is away.
  DeliveryWorker(std::string database_url, std::vector<config::Sink> sinks, StatusBoard& board,
                 DeliveryParams params = {});
  /// Stops: a request in progress may finish within 2 s, then it is cut and its event stays in the
  /// outbox.
  ~DeliveryWorker();
  DeliveryWorker(const DeliveryWorker&) = delete;
  DeliveryWorker& operator=(const DeliveryWorker&) = delete;

  /// Events were written: look now. Any thread; returns at once.
  void notify();
  /// Begins to stop without waiting, so that several workers can stop together. Any thread.
  void request_stop();

 private:
  class SinkThread;
  std::vector<std::unique_ptr<SinkThread>> threads_;
};

}  // namespace spintag::daemon
