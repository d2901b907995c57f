// tests/bench/cuda/bench.cuh - timing by device events, and the table that bench_cuda prints.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/context.cuh"

namespace spintag::bench {

/// Times work on one device and prints a row for each piece: what, size, median milliseconds, what
/// it achieved, and its share of the bound.
class Bench {
 public:
  Bench(std::shared_ptr<kernels::cuda::Context> context, bool quick);

  const std::shared_ptr<kernels::cuda::Context>& context() const { return context_; }
  bool quick() const { return quick_; }  ///< small sizes and few repeats: does it run at all?

  /// @param work  queues the work on the context's stream and does not wait
  /// @return median over the repeats, milliseconds, after warming up
  double milliseconds(const std::function<void()>& work, int repeats = 21) const;

  /// A row whose bound is memory: each input read once, each output written once.
  /// @param bytes  of those reads and writes
  void memory_row(const std::string& what, const std::string& size, double ms, double bytes) const;
  /// A row that is quoted as a rate, with its bound if there is one to tell.
  void rate_row(const std::string& what, const std::string& size, double ms, double amount,
                const std::string& unit, const std::string& remark = "") const;
  /// Bytes a second of a large copy on this device, reads and writes counted; measured once.
  double copy_bandwidth() const { return copy_bandwidth_; }

 private:
  double measure_copy() const;

  std::shared_ptr<kernels::cuda::Context> context_;
  bool quick_;
  double copy_bandwidth_ = 0;
};

// The parts of bench_cuda, each in a file of its name.
void bench_sliding_max(Bench& bench);
void bench_peaks(Bench& bench);
void bench_stft(Bench& bench);
void bench_extraction(Bench& bench);  ///< samples to landmarks
void bench_landmarks(Bench& bench);
void bench_votes(Bench& bench);
void bench_verification(Bench& bench);
void bench_warping(Bench& bench);

}  // namespace spintag::bench
