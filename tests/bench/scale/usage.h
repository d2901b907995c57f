// tests/bench/scale/usage.h - what a step cost: seconds, processor time, memory.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdio>

namespace spintag::bench {

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The most memory that this process has held so far.
inline double resident_peak_gib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

/// Processor time of all threads: on a busy machine it says more than the clock.
inline double processor_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Prints, and shows at once: a run may be cut off.
template <class... Values>
void say(const char* format, Values... values) {
  std::printf(format, values...);
  std::fflush(stdout);
}

}  // namespace spintag::bench
