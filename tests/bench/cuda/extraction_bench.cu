// tests/bench/cuda/extraction_bench.cu - samples in device memory to dense peaks, and its stages.
#include "fingerprint/cuda/density_limit.cuh"
#include "fingerprint/cuda/landmarks.cuh"
#include "fingerprint/cuda/peak_extraction.cuh"
#include "fingerprint/cuda/reference.cuh"
#include "tests/bench/cuda/bench_windows.cuh"

namespace spintag::bench {

namespace cuda = fingerprint::cuda;

void bench_extraction(Bench& bench) {
  const BenchWindows windows(bench);
  const auto& context = bench.context();
  const float* const samples = windows.array.data();

  const cuda::LevelRows rows = cuda::make_level_rows(context, samples, windows.places);
  const double levels = static_cast<double>(rows.first_row.back()) * fingerprint::BinRange::count;
  double ms = bench.milliseconds([&] { cuda::make_level_rows(context, samples, windows.places); });
  bench.memory_row("samples to levels", windows.size, ms,
                   sizeof(float) * (static_cast<double>(windows.array.size()) + levels));

  const cuda::SecondTable table(context, rows);
  const cuda::CandidateLists candidates = cuda::find_candidates(context, rows, table, 256);
  ms = bench.milliseconds([&] { cuda::find_candidates(context, rows, table, 256); });
  bench.memory_row("levels to candidates", windows.size, ms, sizeof(float) * levels);

  ms = bench.milliseconds([&] { cuda::limit_density(context, rows, table, candidates, 1024); });
  std::uint64_t found = 0;
  std::uint32_t fullest = 0;
  for (const std::uint32_t count : candidates.counts.download()) {
    found += count;
    fullest = std::max(fullest, count);
  }
  bench.rate_row("candidates to dense peaks", windows.size, ms, static_cast<double>(found),
                 "candidates/s", "at most " + std::to_string(fullest) + " in a list");

  ms = bench.milliseconds([&] { cuda::find_peaks(context, rows); });
  bench.rate_row("levels to dense peaks, one wait", windows.size, ms, windows.seconds, "s/s",
                 times_real_time(windows.seconds, ms));
  std::uint32_t total = 0;
  ms = bench.milliseconds(
      [&] { total = cuda::extract_peaks(context, samples, windows.places).total; });
  bench.rate_row("samples to dense peaks, one wait", windows.size, ms, windows.seconds, "s/s",
                 times_real_time(windows.seconds, ms) + ", " + std::to_string(total) + " peaks");

  std::uint32_t landmarks = 0;
  ms = bench.milliseconds([&] {
    const cuda::PeakBatch dense = cuda::extract_peaks(context, samples, windows.places);
    cuda::ReferenceBatch references;
    cuda::make_references(context, dense, references);
    cuda::Batch<fingerprint::Landmark> made;
    cuda::make_reference_landmarks(context, references.peaks, made);
    landmarks = made.total;
  });
  bench.rate_row(
      "samples to landmarks, four waits", windows.size, ms, windows.seconds, "s/s",
      times_real_time(windows.seconds, ms) + ", " + std::to_string(landmarks) + " landmarks");
}

}  // namespace spintag::bench
