// tests/bench/cuda/verification_bench.cu - alignments settled and verified a second, beside the CPU
// twin on one core.
#include <chrono>
#include <cmath>
#include <random>

#include "fingerprint/cuda/query_views.cuh"
#include "fingerprint/cuda/verification.cuh"
#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"
#include "fingerprint/reference.h"
#include "tests/bench/cuda/bench.cuh"

namespace spintag::bench {
namespace {

using namespace fingerprint;
using kernels::cuda::Array;

constexpr double kWindowS = 10;
constexpr double kTrackS = 240;
constexpr std::size_t kCandidates = 16;  ///< of each window; the first is true

/// Windows of tracks that are known, and alignments for each, all over the tracks.
struct Catalogue {
  explicit Catalogue(std::size_t window_count) {
    std::mt19937 random(1);
    const auto uniform = [&random](double low, double high) {
      return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
    };
    for (std::size_t track = 0; track < 32; ++track) {
      std::vector<Peak> peaks(static_cast<std::size_t>(kTrackS) * 100);
      for (Peak& peak : peaks) {
        peak = {uniform(0, kTrackS), static_cast<float>(std::exp(uniform(5.4, 8.5))),
                static_cast<float>(uniform(2, 30))};
      }
      std::sort(peaks.begin(), peaks.end(),
                [](const Peak& a, const Peak& b) { return a.time_s < b.time_s; });
      const PackedPeaks packed = make_reference(peaks);
      begins.push_back(bytes.size());
      bytes.insert(bytes.end(), packed.begin(), packed.end());
      tracks.push_back(std::move(peaks));
    }
    begins.push_back(bytes.size());
    for (std::size_t window = 0; window < window_count; ++window) {
      const double offset = uniform(0, kTrackS - kWindowS);
      windows.emplace_back();
      select_strongest(tracks[window % tracks.size()], offset, offset + kWindowS,
                       BroadcastProfile::verify_peaks_per_s, windows.back());
      times.push_back({offset, offset + kWindowS});
      for (std::size_t i = 0; i < kCandidates; ++i) {
        const double at = i == 0 ? offset + uniform(-0.02, 0.02) : uniform(-5, kTrackS - 5);
        fits.push_back({at, 1, 1});
      }
    }
  }
  std::size_t track_of(std::size_t request) const {
    return (request / kCandidates + request % kCandidates) % tracks.size();
  }
  std::span<const std::byte> packed_of(std::size_t request) const {
    const std::size_t track = track_of(request);
    return std::span(bytes).subspan(begins[track], begins[track + 1] - begins[track]);
  }

  std::vector<std::vector<Peak>> tracks;
  std::vector<std::byte> bytes;     ///< packed peaks of all tracks
  std::vector<std::size_t> begins;  ///< [tracks + 1] into them
  std::vector<std::vector<Peak>> windows;
  std::vector<cuda::WindowTimes> times;
  std::vector<Fit> fits;  ///< kCandidates a window
};

/// Milliseconds for one alignment on one core.
struct CpuTimes {
  double view = 0;  ///< of a window
  double settle = 0;
  double verify = 0;
};

CpuTimes time_cpu(const Catalogue& catalogue, std::size_t windows) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  CpuTimes times;
  QueryView view;
  for (std::size_t window = 0; window < windows; ++window) {
    auto begin = Clock::now();
    view.assign(catalogue.windows[window], catalogue.times[window].start_s,
                catalogue.times[window].end_s);
    times.view += since(begin);
    for (std::size_t i = window * kCandidates; i < (window + 1) * kCandidates; ++i) {
      Fit fit = catalogue.fits[i];
      begin = Clock::now();
      const auto reference = reference_points(catalogue.packed_of(i), fit, kWindowS);
      settle_offset(view, reference, fit);
      times.settle += since(begin);
      begin = Clock::now();
      verify(view, reference, fit);
      times.verify += since(begin);
    }
  }
  times.view /= static_cast<double>(windows);
  times.settle /= static_cast<double>(windows * kCandidates);
  times.verify /= static_cast<double>(windows * kCandidates);
  return times;
}

std::string against(double cpu_ms_each, double gpu_ms, double count) {
  return "one core: " + std::to_string(static_cast<int>(1000 / cpu_ms_each)) + "/s, x " +
         std::to_string(static_cast<int>(cpu_ms_each * count / gpu_ms));
}

}  // namespace

void bench_verification(Bench& bench) {
  const std::size_t window_count = bench.quick() ? 32 : 1024;
  const Catalogue catalogue(window_count);
  const CpuTimes cpu = time_cpu(catalogue, bench.quick() ? 4 : 64);

  const auto& context = bench.context();
  std::vector<Peak> peaks;
  std::vector<std::uint32_t> begin = {0};
  for (const auto& window : catalogue.windows) {
    peaks.insert(peaks.end(), window.begin(), window.end());
    begin.push_back(static_cast<std::uint32_t>(peaks.size()));
  }
  cuda::PeakBatch batch;
  batch.values = Array<Peak>(context, peaks);
  batch.begin = Array<std::uint32_t>(context, begin);
  batch.count = static_cast<std::uint32_t>(window_count);
  batch.total = begin.back();
  const Array<std::byte> packed(context, catalogue.bytes);
  std::vector<cuda::VerifyTask> list;
  for (std::size_t i = 0; i < catalogue.fits.size(); ++i) {
    list.push_back({static_cast<std::uint32_t>(i / kCandidates),
                    static_cast<std::uint32_t>(catalogue.packed_of(i).size()),
                    packed.data() + catalogue.begins[catalogue.track_of(i)], catalogue.fits[i]});
  }
  const Array<cuda::VerifyTask> tasks(context, list);

  const cuda::QueryViews views(context, batch, catalogue.times);
  const auto windows = static_cast<double>(window_count);
  const auto count = static_cast<double>(list.size());
  const std::string size = std::to_string(list.size()) + " alignments, 10 s, 4 min tracks";
  const double view_ms =
      bench.milliseconds([&] { const cuda::QueryViews again(context, batch, catalogue.times); });
  const double settle_ms =
      bench.milliseconds([&] { cuda::settle_offsets(context, views, tasks, list.size()); });
  const double verify_ms =
      bench.milliseconds([&] { cuda::verify(context, views, tasks, list.size()); });
  const double score_ms =
      bench.milliseconds([&] { cuda::verify(context, views, tasks, list.size(), false); });
  const std::vector<Verdict> verdicts = cuda::verify(context, views, tasks, list.size()).download();
  double points = 0;
  for (const Verdict& verdict : verdicts) points += verdict.expected;
  bench.rate_row("query views", std::to_string(window_count) + " windows of 10 s", view_ms, windows,
                 "windows/s", against(cpu.view, view_ms, windows));
  bench.rate_row("settle offsets", size, settle_ms, count, "alignments/s",
                 against(cpu.settle, settle_ms, count));
  bench.rate_row("verify", size, verify_ms, count, "alignments/s",
                 against(cpu.verify, verify_ms, count));
  bench.rate_row("verify, per reference point", size, verify_ms, points, "points/s");
  bench.rate_row("verify without refining", size, score_ms, count, "alignments/s");
  bench.rate_row("settle and verify", size, settle_ms + verify_ms, count, "alignments/s",
                 against(cpu.settle + cpu.verify, settle_ms + verify_ms, count));
}

}  // namespace spintag::bench
