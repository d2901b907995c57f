// daemon/stop_on_signal.h - Ctrl-C and SIGTERM as a stop token, for commands that run a while.
#pragma once

#include <stop_token>
#include <thread>

namespace spintag::daemon {

/// While it lives, the first SIGINT or SIGTERM asks its token to stop; a second one ends the
/// process as if nothing had been installed. One at a time in a process.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();  ///< puts the default behaviour back
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// Stops for another reason than a signal.
  void request_stop() { source_.request_stop(); }
  bool stop_requested() const { return source_.stop_requested(); }

 private:
  std::stop_source source_;
  int pipe_[2] = {-1, -1};
  std::jthread watcher_;  ///< "signals": blocks on the pipe that the handler writes to
};

}  // namespace spintag::daemon
