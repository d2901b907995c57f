// tests/bench/cuda/landmarks_bench.cu - from dense peaks to what is looked up and what is indexed.
#include <algorithm>
#include <random>

#include "fingerprint/cuda/batch_tools.cuh"
#include "fingerprint/cuda/dejavu.cuh"
#include "fingerprint/cuda/landmarks.cuh"
#include "fingerprint/cuda/reference.cuh"
#include "fingerprint/cuda/selection.cuh"
#include "fingerprint/peak_order.h"
#include "fingerprint/search_plan.h"
#include "tests/bench/cuda/bench.cuh"

namespace spintag::bench {
namespace {

using kernels::cuda::Array;
namespace fp = fingerprint;

/// As dense and as spread as an extractor gives them.
std::vector<fp::Peak> random_peaks(std::uint32_t seed, double seconds) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<fp::Peak> peaks(
      static_cast<std::size_t>(seconds * fp::BroadcastProfile::dense_peaks_per_s));
  for (fp::Peak& peak : peaks) {
    peak.time_s = seconds * uniform();
    peak.freq_hz = static_cast<float>(200 + 4800 * uniform() * uniform());
    peak.salience_db = static_cast<float>(2 + 30 * uniform());
  }
  std::sort(peaks.begin(), peaks.end(), fp::is_earlier);
  return peaks;
}

fp::cuda::PeakBatch random_batch(const Bench& bench, std::uint32_t lists, double seconds) {
  std::vector<std::vector<fp::Peak>> peaks;
  for (std::uint32_t i = 0; i < lists; ++i) peaks.push_back(random_peaks(i + 1, seconds));
  const std::vector<std::span<const fp::Peak>> spans(peaks.begin(), peaks.end());
  return fp::cuda::upload_lists<fp::Peak>(bench.context(), spans);
}

void bench_queries(Bench& bench) {
  const std::uint32_t windows = bench.quick() ? 16 : 1024;
  constexpr double kSeconds = 10;
  const std::string size = std::to_string(windows) + " windows of 10 s";
  const fp::cuda::PeakBatch dense = random_batch(bench, windows, kSeconds);
  const std::vector<fp::cuda::WindowTimes> host_times(windows, {0, kSeconds});
  const Array<fp::cuda::WindowTimes> times(bench.context(), host_times);
  for (const fp::Search& search : fp::searches_of({.any_speed = false}, 0)) {
    const std::string how = ", " + std::to_string(search.peaks_per_s) + " peaks/s";
    fp::cuda::PeakBatch selected;
    fp::cuda::ProbeBatch probes;
    const double select_ms = bench.milliseconds([&] {
      fp::cuda::select_strongest(bench.context(), dense, times.data(), search.peaks_per_s,
                                 selected);
    });
    bench.rate_row("select_strongest", size + how, select_ms, dense.total, "peaks/s");
    const double ms = bench.milliseconds([&] {
      fp::cuda::make_query_probes(bench.context(), selected, times.data(), {1.03, 0.98},
                                  search.soft, probes);
    });
    bench.rate_row("make_query_probes", size + how, ms, probes.total, "probes/s",
                   std::to_string(probes.total / windows) + " a window");
    bench.memory_row("make_query_probes, as memory", size + how, ms,
                     static_cast<double>(selected.total) * sizeof(fp::Peak) +
                         static_cast<double>(probes.total) * sizeof(fp::Probe));
  }
}

void bench_references(Bench& bench) {
  const std::uint32_t recordings = bench.quick() ? 4 : 256;
  constexpr double kSeconds = 60;
  const std::string size = std::to_string(recordings) + " x 60 s, 150 peaks/s";
  const double audio_s = recordings * kSeconds;
  const fp::cuda::PeakBatch dense = random_batch(bench, recordings, kSeconds);
  fp::cuda::ReferenceBatch references;
  fp::cuda::Batch<fp::Landmark> landmarks;
  const double pack_ms =
      bench.milliseconds([&] { fp::cuda::make_references(bench.context(), dense, references); });
  bench.rate_row("make_references", size, pack_ms, audio_s, "x real time");
  const double pair_ms = bench.milliseconds(
      [&] { fp::cuda::make_reference_landmarks(bench.context(), references.peaks, landmarks); });
  bench.rate_row("make_reference_landmarks", size, pair_ms, landmarks.total, "landmarks/s");
  bench.rate_row("dense peaks to reference landmarks", size, pack_ms + pair_ms, audio_s,
                 "x real time", "budget 2 ms");
}

void bench_dejavu(Bench& bench) {
  const std::uint32_t lists = bench.quick() ? 4 : 256;
  constexpr std::uint32_t kPeaks = 3000;  // of a minute or so
  std::mt19937 random(1);
  std::vector<std::vector<kernels::Peak>> peaks(lists);
  for (auto& list : peaks) {
    std::uint32_t frame = 0;
    for (std::uint32_t i = 0; i < kPeaks; ++i) {
      frame += static_cast<std::uint32_t>(random() % 2);
      kernels::Peak peak;
      peak.frame = frame;
      peak.bin = static_cast<std::uint32_t>(random() % fp::DejavuProfile::bins);
      list.push_back(peak);
    }
  }
  const std::vector<std::span<const kernels::Peak>> spans(peaks.begin(), peaks.end());
  const auto batch = fp::cuda::upload_lists<kernels::Peak>(bench.context(), spans);
  fp::cuda::Batch<fp::DejavuLandmark> landmarks;
  const double ms = bench.milliseconds(
      [&] { fp::cuda::dejavu_landmarks(bench.context(), batch, {}, landmarks); });
  bench.memory_row("dejavu_landmarks", std::to_string(lists) + " x 3000 peaks", ms,
                   static_cast<double>(batch.total) * sizeof(kernels::Peak) +
                       static_cast<double>(landmarks.total) * sizeof(fp::DejavuLandmark));
}

}  // namespace

void bench_landmarks(Bench& bench) {
  bench_queries(bench);
  bench_references(bench);
  bench_dejavu(bench);
}

}  // namespace spintag::bench
