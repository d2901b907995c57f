// tests/bench/cuda/warping_bench.cu - cells of warping tables a second, beside the CPU twins.
#include <chrono>
#include <cstdio>
#include <random>
#include <string>

#include "kernels/cuda/warping.cuh"
#include "tests/bench/cuda/bench.cuh"

namespace spintag::bench {
namespace {

using kernels::WarpingCandidate;
using kernels::cuda::Array;

constexpr std::size_t kReferences = 8'000'000;  ///< samples of 10,000 melodies of 25 s
constexpr std::uint16_t kCap = 400;

struct Material {
  Material(std::size_t rows, std::size_t columns, std::size_t count)
      : references(kReferences), query(rows), candidates(count) {
    std::mt19937 random(1);
    for (auto& sample : references) sample = static_cast<std::int16_t>(4800 + random() % 2400);
    for (auto& sample : query) sample = static_cast<std::int16_t>(4800 + random() % 2400);
    for (WarpingCandidate& candidate : candidates) {
      candidate = {.first = static_cast<std::uint32_t>(random() % (kReferences - 1000)),
                   .count = 1000,
                   .start = static_cast<std::int32_t>(random() % 300),
                   .step = 60'000 + static_cast<std::uint32_t>(random() % 10'000),
                   .length = static_cast<std::uint32_t>(columns),
                   .level = static_cast<std::int32_t>(random() % 100)};
    }
  }
  double cells() const {
    return static_cast<double>(query.size()) * candidates.front().length *
           static_cast<double>(candidates.size());
  }

  std::vector<std::int16_t> references;
  std::vector<std::int16_t> query;
  std::vector<WarpingCandidate> candidates;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void bench_warping(Bench& bench) {
  for (const std::size_t columns : {250U, 500U}) {
    for (const std::size_t count : {10'000U, 1'000'000U}) {
      if (bench.quick() && count > 10'000) continue;
      const Material made(250, columns, count);
      const auto& context = bench.context();
      const Array<std::int16_t> references(context, made.references);
      const Array<std::int16_t> query(context, made.query);
      const Array<WarpingCandidate> candidates(context, made.candidates);
      const Array<std::uint16_t> distances(context, count);
      for (const bool skips_pay : {false, true}) {
        const double ms = bench.milliseconds([&] {
          kernels::cuda::queue_warping(*context, references.data(), query.data(), made.query.size(),
                                       candidates.data(), count,
                                       {.cap = kCap, .skips_pay = skips_pay}, distances.data());
        });
        bench.rate_row(skips_pay ? "warping, skips pay" : "warping, as published",
                       "250 x " + std::to_string(columns) + " x " + std::to_string(count), ms,
                       1e-9 * made.cells(), "GCUPS");
      }
    }
  }
  Material few(250, 250, bench.quick() ? 64 : 4096);
  auto cpu = kernels::Device::cpu();
  const double lanes_s = seconds_of([&] {
    kernels::warping_distances(cpu, {cpu, few.references}, few.query, few.candidates,
                               {.cap = kCap, .threads = 1});
  });
  bench.rate_row("warping, one core in lanes", "250 x 250", 1e3 * lanes_s, 1e-9 * few.cells(),
                 "GCUPS");
  few.candidates.resize(64);
  const double serial_s = seconds_of([&] {
    kernels::serial_warping_distances(few.references, few.query, few.candidates, {.cap = kCap});
  });
  bench.rate_row("warping, one core serial", "250 x 250", 1e3 * serial_s, 1e-9 * few.cells(),
                 "GCUPS");
}

}  // namespace spintag::bench
