// tests/bench/cuda/sliding_max_bench.cu - footprints over a recording beside a copy of it.
#include <vector>

#include "kernels/cuda/sliding_max.cuh"
#include "tests/bench/cuda/bench.cuh"
#include "tests/bench/cuda/bench_spectrograms.cuh"

namespace spintag::bench {
namespace {

using kernels::Footprint;

Footprint masked_diamond(std::size_t radius) {
  const Footprint diamond = Footprint::diamond(radius);
  std::vector<std::uint8_t> cells;
  for (std::size_t f = 0; f < diamond.frames(); ++f) {
    for (std::size_t b = 0; b < diamond.bins(); ++b) cells.push_back(diamond.contains(f, b));
  }
  return Footprint::mask(cells, diamond.frames(), diamond.bins());
}

}  // namespace

void bench_sliding_max(Bench& bench) {
  BenchSpectrograms spectrograms(bench, BenchSpectrograms::Kind::kRandom);
  const kernels::cuda::Array<float> maxima(bench.context(), spectrograms.cells());
  const auto row = [&](const std::string& what, const Footprint& footprint) {
    const double ms = bench.milliseconds([&] {
      kernels::cuda::queue_sliding_max(bench.context(), spectrograms.next(), footprint,
                                       maxima.data());
    });
    bench.memory_row("sliding_max " + what, spectrograms.size(), ms,
                     2.0 * sizeof(float) * static_cast<double>(spectrograms.cells()));
  };
  for (const std::size_t radius : {1U, 5U, 10U, 13U, 16U, 20U, 32U, 40U, 80U}) {
    row("diamond " + std::to_string(radius), Footprint::diamond(radius));
  }
  row("box 11 x 11", Footprint::box(5, 5));
  row("box 41 x 41", Footprint::box(20, 20));
  row("box 401 x 41", Footprint::box(200, 20));
  row("mask, diamond 10", masked_diamond(10));
}

}  // namespace spintag::bench
