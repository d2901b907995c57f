// tests/bench/cuda/cufft_bench.cuh - cuFFT's transform beside ours, where cuFFT is installed.
#pragma once

#include "tests/bench/cuda/bench_windows.cuh"

namespace spintag::bench {

/// Times cuFFT's transform of real frames alone: no window, no powers, no decibels.
void bench_cufft(Bench& bench, const BenchWindows& windows, std::size_t frame, std::size_t hop);

}  // namespace spintag::bench
