// daemon/progress.h - one line on a terminal that says how far a long command is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace spintag::daemon {

/// How far an ingest is.
struct Progress {
  std::size_t done = 0;  ///< files, however they ended
  std::size_t total = 0;
  std::size_t failed = 0;
  double audio_s = 0;  ///< recorded time that was decoded so far
  double elapsed_s = 0;
};

/// The line, for a terminal that is `columns` wide: bar, files, rate in times real time, time left.
std::string progress_line(const Progress& progress, std::size_t columns);

/// Draws on stderr if that is a terminal, and nothing at all if it is not. Single-threaded: callers
/// hold one mutex.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  ///< clears the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// At most ten times a second.
  void draw(const Progress& progress);
  /// A whole line on stderr, with the bar out of its way.
  void say(std::string_view line);
  /// Takes the bar away until the next draw().
  void clear();

 private:
  bool on_terminal_ = false;
  bool shown_ = false;
  std::chrono::steady_clock::time_point drawn_at_{};
};

}  // namespace spintag::daemon
