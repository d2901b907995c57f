// fingerprint/cuda/peak_extraction.cu - dense peaks of many recordings on a CUDA device.
#include "fingerprint/cuda/peak_extraction.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fingerprint/batch_extractor.h"
#include "fingerprint/cuda/density_limit.cuh"
#include "fingerprint/cuda/peak_candidates.cuh"
#include "kernels/cuda/scan.cuh"

namespace spintag::fingerprint::cuda {
namespace {

using Profile = BroadcastProfile;
using kernels::cuda::Array;
using kernels::cuda::Context;
using kernels::cuda::SignalPlace;

constexpr int kCopyThreads = 64;

/// A block copies a second's peaks to their place.
__global__ void __launch_bounds__(kCopyThreads)
    compact_kernel(const Peak* kept, const std::uint32_t* second_begin, Peak* peaks) {
  const std::uint32_t begin = second_begin[blockIdx.x];
  const std::uint32_t count = second_begin[blockIdx.x + 1] - begin;
  const Peak* const from = kept + static_cast<std::size_t>(blockIdx.x) * Profile::dense_peaks_per_s;
  for (std::uint32_t i = threadIdx.x; i < count; i += kCopyThreads) peaks[begin + i] = from[i];
}

/// Where each recording's list begins.
__global__ void begin_kernel(const RecordingRows* recordings, const std::uint32_t* second_begin,
                             std::uint32_t count, std::uint32_t* begin) {
  const std::uint32_t i = blockIdx.x * kCopyThreads + threadIdx.x;
  if (i <= count) begin[i] = second_begin[recordings[i].first_second];
}

PeakBatch gather(const std::shared_ptr<Context>& context, const SecondTable& table,
                 const KeptPeaks& kept, const Array<std::uint32_t>& second_begin,
                 std::uint32_t total) {
  const auto count = static_cast<std::uint32_t>(table.recordings.size() - 1);
  PeakBatch batch{.values = Array<Peak>(context, total),
                  .begin = Array<std::uint32_t>(context, count + 1),
                  .count = count,
                  .total = total};
  kernels::cuda::launch(*context, compact_kernel, dim3(table.seconds()), dim3(kCopyThreads), 0,
                        kept.peaks.data(), second_begin.data(), batch.values.data());
  kernels::cuda::launch(*context, begin_kernel, dim3(count / kCopyThreads + 1), dim3(kCopyThreads),
                        0, table.recordings.data(), second_begin.data(), count, batch.begin.data());
  return batch;
}

}  // namespace

PeakBatch find_peaks(const std::shared_ptr<Context>& context, const LevelRows& rows,
                     std::int8_t* cells) {
  // Music has 40 to 130 box maxima a strip and second, noise 150. Steady tones have every frame of
  // theirs, and more room is made for them below.
  std::uint32_t slots = 256;
  std::uint32_t room = 1024;
  const SecondTable table(context, rows);
  Array<std::uint32_t> second_begin(context, table.seconds() + 1);
  for (;;) {
    const CandidateLists candidates = find_candidates(context, rows, table, slots, cells);
    const KeptPeaks kept = limit_density(context, rows, table, candidates, room);
    kernels::cuda::exclusive_sums(context, kept.counts.data(), table.seconds(),
                                  second_begin.data());
    RoomNeeded needed;
    std::uint32_t total = 0;
    context->check(cudaMemcpyAsync(&needed, kept.needed.data(), sizeof needed,
                                   cudaMemcpyDeviceToHost, context->stream()),
                   "copying from the device");
    context->check(cudaMemcpyAsync(&total, second_begin.data() + table.seconds(), sizeof total,
                                   cudaMemcpyDeviceToHost, context->stream()),
                   "copying from the device");
    context->synchronize();
    if (needed.slots <= slots && needed.peaks <= room) {
      return gather(context, table, kept, second_begin, total);
    }
    // Once the lists are complete, a second may turn out to have more peaks than it seemed.
    room = std::max({room, needed.peaks, needed.slots > slots ? Strips::kCount * needed.slots : 0});
    slots = std::max(slots, needed.slots);
  }
}

PeakBatch extract_peaks(const std::shared_ptr<Context>& context, const float* samples,
                        std::span<const SignalPlace> places) {
  return find_peaks(context, make_level_rows(context, samples, places));
}

namespace {

/// Finds the peaks of all recordings and hands them to the host.
void append_extractions(const std::shared_ptr<Context>& context, const LevelRows& rows,
                        Wanted wanted, std::vector<Extraction>& all) {
  constexpr std::size_t kCells = LevelMap::kCells;
  const bool with_levels = wanted == Wanted::peaks_and_levels;
  const Array<std::int8_t> cells(context, with_levels ? rows.first_row.back() * kCells : 0);
  const PeakBatch batch = find_peaks(context, rows, with_levels ? cells.data() : nullptr);
  const std::vector<Peak> peaks = batch.values.download();
  const std::vector<std::uint32_t> begin = batch.begin.download();
  const std::vector<std::int8_t> levels = cells.download();
  for (std::uint32_t r = 0; r < batch.count; ++r) {
    Extraction& one = all.emplace_back();
    one.peaks.assign(peaks.begin() + begin[r], peaks.begin() + begin[r + 1]);
    if (!with_levels) continue;
    one.levels =
        LevelMap({levels.begin() + static_cast<std::ptrdiff_t>(rows.first_row[r] * kCells),
                  levels.begin() + static_cast<std::ptrdiff_t>(rows.first_row[r + 1] * kCells)});
  }
}

/// Device memory that a recording needs: samples, levels, candidates and kept peaks.
std::size_t bytes_of(std::size_t samples) {
  constexpr std::size_t kOfSecond =
      512 * sizeof(Candidate) * Strips::kCount + 2 * Profile::dense_peaks_per_s * sizeof(Peak);
  return samples * sizeof(float) +
         (samples / Profile::hop_samples + 1) *
             (LevelRows::kStride * sizeof(float) + LevelMap::kCells) +
         (samples / Profile::rate_hz + 1) * kOfSecond;
}

/// Calls with(first, last) for stretches of `sizes` that fit half of the device's free memory. One
/// that does not fit by itself is tried by itself.
template <class Function>
void in_parts(const Context& context, std::span<const std::size_t> sizes, Function&& with) {
  const std::size_t budget = context.free_bytes() / 2;
  std::size_t first = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > first && bytes + sizes[i] > budget) {
      with(first, i);
      first = i;
      bytes = 0;
    }
    bytes += sizes[i];
  }
  if (first < sizes.size()) with(first, sizes.size());
}

}  // namespace

std::vector<Extraction> extract(kernels::Device& device,
                                std::span<const std::span<const float>> recordings, Wanted wanted) {
  const auto& context = device.shared_context();
  context->make_current();
  std::vector<std::size_t> sizes;
  for (const auto recording : recordings) sizes.push_back(bytes_of(recording.size()));
  std::vector<Extraction> all;
  in_parts(*context, sizes, [&](std::size_t first, std::size_t last) {
    std::vector<SignalPlace> places;
    std::size_t end = 0;
    for (std::size_t i = first; i < last; ++i) {
      places.push_back({.begin = end, .samples = recordings[i].size()});
      end += (recordings[i].size() + 1) / 2 * 2;
    }
    const Array<float> samples(context, end);
    for (std::size_t i = first; i < last; ++i) {
      if (recordings[i].empty()) continue;
      context->check(
          cudaMemcpyAsync(samples.data() + places[i - first].begin, recordings[i].data(),
                          recordings[i].size_bytes(), cudaMemcpyHostToDevice, context->stream()),
          "copying to the device");
    }
    append_extractions(context, make_level_rows(context, samples.data(), places), wanted, all);
  });
  return all;
}

std::vector<Extraction> find_dense_peaks(kernels::Device& device,
                                         std::span<const std::span<const float>> levels_db,
                                         Wanted wanted) {
  const auto& context = device.shared_context();
  context->make_current();
  LevelRows rows;
  rows.first_row.push_back(0);
  std::vector<float> padded;
  for (const auto levels : levels_db) {
    const std::size_t frames = levels.size() / BinRange::count;
    for (std::size_t f = 0; f < frames; ++f) {
      const auto row = levels.subspan(f * BinRange::count, BinRange::count);
      padded.insert(padded.end(), row.begin(), row.end());
      padded.resize(padded.size() + LevelRows::kStride - BinRange::count);
    }
    rows.first_row.push_back(rows.first_row.back() + static_cast<std::uint32_t>(frames));
  }
  rows.levels = Array<float>(context, padded);
  std::vector<Extraction> all;
  append_extractions(context, rows, wanted, all);
  return all;
}

}  // namespace spintag::fingerprint::cuda
