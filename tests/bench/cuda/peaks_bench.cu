// tests/bench/cuda/peaks_bench.cu - peaks of a recording beside reading it once.
#include "kernels/cuda/peaks.cuh"
#include "tests/bench/cuda/bench.cuh"
#include "tests/bench/cuda/bench_spectrograms.cuh"

namespace spintag::bench {

void bench_peaks(Bench& bench) {
  using Kind = BenchSpectrograms::Kind;
  for (const Kind kind : {Kind::kRandom, Kind::kNotes}) {
    BenchSpectrograms spectrograms(bench, kind);
    const std::size_t capacity = spectrograms.cells() / 16;
    const kernels::cuda::Array<kernels::Peak> peaks(bench.context(), capacity);
    const kernels::cuda::Array<unsigned long long> count(bench.context(), 1);
    kernels::cuda::PeakScratch scratch;
    for (const std::size_t radius : {5U, 10U, 20U}) {
      const kernels::PeakParams params{.footprint = kernels::Footprint::diamond(radius)};
      const double ms = bench.milliseconds([&] {
        kernels::cuda::queue_find_peaks(bench.context(), spectrograms.next(), params, scratch,
                                        peaks.data(), capacity, count.data());
      });
      const unsigned long long found = count.download().front();
      bench.memory_row("peaks diamond " + std::to_string(radius) +
                           (kind == Kind::kRandom ? ", random, " : ", notes, ") +
                           std::to_string(found) + " found",
                       spectrograms.size(), ms,
                       sizeof(float) * static_cast<double>(spectrograms.cells()) +
                           sizeof(kernels::Peak) * static_cast<double>(found));
    }
  }
}

}  // namespace spintag::bench
