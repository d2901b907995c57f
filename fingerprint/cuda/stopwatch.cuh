// fingerprint/cuda/stopwatch.cuh - where the time of a batch goes.
#pragma once

#include <chrono>

#include "kernels/cuda/context.cuh"

namespace spintag::fingerprint::cuda {

/// Adds the time until it goes out of scope. Whoever measures the device waits for it first.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

/// The same, the device's work included.
class DeviceStopwatch {
 public:
  DeviceStopwatch(const kernels::cuda::Context& context, double& seconds)
      : context_(context), watch_(seconds) {}
  ~DeviceStopwatch() {
    cudaStreamSynchronize(context_.stream());  // an error is told by whoever asks next
  }
  DeviceStopwatch(const DeviceStopwatch&) = delete;
  DeviceStopwatch& operator=(const DeviceStopwatch&) = delete;

 private:
  const kernels::cuda::Context& context_;
  Stopwatch watch_;
};

}  // namespace spintag::fingerprint::cuda
