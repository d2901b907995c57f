// tests/bench/cuda/stft_bench.cu - power spectra of many windows.
#include "kernels/cuda/stft.cuh"

#include <optional>

#include "tests/bench/cuda/bench_windows.cuh"
#include "tests/bench/cuda/cufft_bench.cuh"

namespace spintag::bench {

using kernels::cuda::Array;

void bench_stft(Bench& bench) {
  const BenchWindows windows(bench);
  const auto samples = static_cast<double>(windows.array.size());
  struct Case {
    std::size_t frame;
    std::size_t hop;
    std::optional<float> offset;
  };
  for (const Case& one :
       {Case{2048, 256, std::nullopt}, Case{2048, 256, 3.16e-8F}, Case{4096, 2048, std::nullopt},
        Case{4096, 2048, 3.16e-8F}, Case{512, 128, std::nullopt}, Case{8192, 2048, std::nullopt}}) {
    const kernels::cuda::StftPlan plan(
        bench.context(),
        {.frame_samples = one.frame, .hop_samples = one.hop, .bins = one.frame / 2 + 1});
    const auto layout = plan.lay_out(windows.places);
    const std::size_t stride = one.frame / 2 + 8;  // whole 32-byte sectors
    const Array<float> rows(bench.context(), layout.rows() * stride);
    const double ms = bench.milliseconds(
        [&] { plan.run(windows.array.data(), layout, rows.data(), stride, one.offset); });
    const auto powers = static_cast<double>(layout.rows() * plan.params().bins);
    const std::string what = "stft " + std::to_string(one.frame) + "/" + std::to_string(one.hop) +
                             (one.offset ? ", decibels" : ", power");
    bench.memory_row(what, windows.size, ms, sizeof(float) * (samples + powers));
    bench.rate_row("  the same", windows.size, ms, layout.rows(), "frames/s",
                   times_real_time(windows.seconds, ms));
  }
  bench_cufft(bench, windows, 2048, 256);
  bench_cufft(bench, windows, 4096, 2048);
}

}  // namespace spintag::bench
