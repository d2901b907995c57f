// tests/bench/cuda/cufft_bench.cu - cuFFT's transform of the same frames.
#include "tests/bench/cuda/cufft_bench.cuh"

#include <cufft.h>

#include <stdexcept>

namespace spintag::bench {
namespace {

void check(cufftResult result) {
  if (result != CUFFT_SUCCESS) {
    throw std::runtime_error("cuFFT: error " + std::to_string(static_cast<int>(result)));
  }
}

}  // namespace

void bench_cufft(Bench& bench, const BenchWindows& windows, std::size_t frame, std::size_t hop) {
  // All windows as one signal: a few frames more, across the seams.
  const std::size_t frames = (windows.array.size() - frame) / hop + 1;
  int size = static_cast<int>(frame);
  int bins = size / 2 + 1;
  cufftHandle plan = 0;
  check(cufftPlanMany(&plan, 1, &size, &size, 1, static_cast<int>(hop), &bins, 1, bins, CUFFT_R2C,
                      static_cast<int>(frames)));
  check(cufftSetStream(plan, bench.context()->stream()));
  const kernels::cuda::Array<cufftComplex> spectra(bench.context(), frames * bins);
  const double ms =
      bench.milliseconds([&] { check(cufftExecR2C(plan, windows.array.data(), spectra.data())); });
  check(cufftDestroy(plan));
  const double bytes =
      sizeof(float) * static_cast<double>(windows.array.size() + 2 * spectra.size());
  bench.memory_row("cuFFT " + std::to_string(frame) + "/" + std::to_string(hop) + ", spectra",
                   windows.size, ms, bytes);
}

}  // namespace spintag::bench
