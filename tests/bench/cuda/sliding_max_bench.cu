// tests/bench/cuda/sliding_max_bench.cu - footprints over a recording beside a copy of it.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/diamond_strip.cuh"
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

/// What the choice of a strip's width costs or brings: the kernel alone, one full wave of blocks.
template <int kRadius>
void bench_strip_widths(Bench& bench, BenchSpectrograms& spectrograms, float* maxima) {
  using Shape = kernels::cuda::DiamondShape<kRadius>;
  for (int width = 128; width <= Shape::kWidest; width += 64) {
    const int usable = width - 2 * kRadius;
    const int bins = static_cast<int>(spectrograms.next().bins);
    const int frames = static_cast<int>(spectrograms.next().frames);
    const int strips = (bins + usable - 1) / usable;
    const int resident =
        bench.context()->multiprocessors() * (Shape::kWidest * Shape::kStrips / width);
    const int segments = std::max(resident / strips, 1);
    const int segment_frames = (frames + segments - 1) / segments;
    const double ms = bench.milliseconds([&] {
      kernels::cuda::launch(*bench.context(), kernels::cuda::diamond_strip_kernel<kRadius>,
                            dim3(static_cast<unsigned>(strips), static_cast<unsigned>(segments)),
                            dim3(static_cast<unsigned>(width)),
                            2 * sizeof(float) * Shape::kRows * static_cast<unsigned>(width),
                            spectrograms.next().cells, frames, bins, segment_frames, maxima);
    });
    bench.memory_row(
        "  diamond " + std::to_string(kRadius) + ", strips of " + std::to_string(width),
        spectrograms.size(), ms, 2.0 * sizeof(float) * static_cast<double>(spectrograms.cells()));
  }
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
  bench_strip_widths<10>(bench, spectrograms, maxima.data());
  bench_strip_widths<20>(bench, spectrograms, maxima.data());
}

}  // namespace spintag::bench
