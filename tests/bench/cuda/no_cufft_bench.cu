// tests/bench/cuda/no_cufft_bench.cu - what is said where cuFFT is not installed.
#include "tests/bench/cuda/cufft_bench.cuh"

namespace spintag::bench {

void bench_cufft(Bench&, const BenchWindows&, std::size_t frame, std::size_t hop) {
  std::printf("# cuFFT %zu/%zu: not found when this was built\n", frame, hop);
}

}  // namespace spintag::bench
