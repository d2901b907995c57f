// fingerprint/cuda/selection.cu - a warp for each second ranks its peaks by counting.
#include "fingerprint/cuda/selection.cuh"

#include <algorithm>
#include <cmath>

#include "fingerprint/cuda/compaction.cuh"
#include "fingerprint/cuda/lists.h"
#include "fingerprint/peak_order.h"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;
using kernels::cuda::launch;

constexpr unsigned kWarps = kBlockThreads / 32;

/// First of peaks[begin, end) at `time_s` or after it.
__device__ std::uint32_t first_at(const Peak* peaks, std::uint32_t begin, std::uint32_t end,
                                  double time_s) {
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (peaks[middle].time_s < time_s) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// How many of peaks[begin, end) rank before peak i; of equals the first ones do. Stops at `limit`.
__device__ std::uint32_t rank_of(const Peak* peaks, std::uint32_t begin, std::uint32_t end,
                                 std::uint32_t i, std::uint32_t limit) {
  const Peak peak = peaks[i];
  std::uint32_t rank = 0;
  for (std::uint32_t j = begin; j < end && rank < limit; ++j) {
    const Peak other = peaks[j];
    if (other.salience_db < peak.salience_db) continue;
    rank += is_stronger(other, peak) || (j < i && !is_stronger(peak, other)) ? 1 : 0;
  }
  return rank;
}

/// Seconds count from the window's start by repeated addition, as on the processor; a warp takes
/// every so many.
__global__ void __launch_bounds__(kBlockThreads)
    mark_strongest(const Peak* peaks, const std::uint32_t* begin, const WindowTimes* windows,
                   int per_second, std::uint32_t* kept, Fate* fate) {
  const unsigned warps = kWarps * gridDim.y;
  const WindowTimes window = windows[blockIdx.x];
  const std::uint32_t list_begin = begin[blockIdx.x];
  const std::uint32_t list_end = begin[blockIdx.x + 1];
  const std::uint32_t last = first_at(peaks, list_begin, list_end, window.end_s);
  std::uint32_t from = first_at(peaks, list_begin, last, window.start_s);
  double second = window.start_s;
  for (unsigned i = blockIdx.y * kWarps + threadIdx.x / 32; i > 0; --i) second += 1.0;
  while (from < last) {
    from = first_at(peaks, from, last, second);
    const std::uint32_t to = first_at(peaks, from, last, second + 1.0);
    const double share = std::min(1.0, window.end_s - second);
    const double wanted = std::ceil(per_second * share);
    const std::uint32_t limit = wanted > 0 ? static_cast<std::uint32_t>(wanted) : 0;
    const bool cut = to - from > limit;
    for (std::uint32_t i = from + threadIdx.x % 32; i < to; i += 32) {
      const bool stays = !cut || rank_of(peaks, from, to, i, limit) < limit;
      kept[i] = stays ? 1 : 0;
      fate[i] = !stays ? Fate::kGoes : cut ? Fate::kSorted : Fate::kStays;
    }
    for (unsigned i = 0; i < warps; ++i) second += 1.0;
  }
}

}  // namespace

void select_strongest(const ContextPointer& context, const PeakBatch& dense,
                      const WindowTimes* windows, int per_second, PeakBatch& out) {
  Array<std::uint32_t> kept(context, dense.total + std::size_t{1});
  Array<Fate> fate(context, dense.total);
  kept.fill_bytes(0);
  fate.fill_bytes(0);
  // Enough blocks for the whole device when windows are few and long.
  constexpr unsigned kMostParts = 64;
  const unsigned wanted = 16 * static_cast<unsigned>(context->multiprocessors());
  const unsigned parts = dense.count == 0 ? 1 : std::clamp(wanted / dense.count, 1U, kMostParts);
  launch(*context, mark_strongest, dim3(dense.count, parts), kBlockThreads, 0, dense.values.data(),
         dense.begin.data(), windows, per_second, kept.data(), fate.data());
  PeakBatch selected;
  const Places places = compact(context, dense, std::move(kept), fate, selected);
  selected.total = places.read_total(*context, "peaks");
  out = std::move(selected);
}

std::vector<std::vector<Peak>> select_strongest(kernels::Device& device,
                                                std::span<const std::span<const Peak>> lists,
                                                std::span<const TimeRange> windows,
                                                int per_second) {
  const ContextPointer& context = device.shared_context();
  context->make_current();
  const PeakBatch dense = upload_lists(context, lists);
  std::vector<WindowTimes> times;
  for (const TimeRange& window : windows) times.push_back({window.start_s, window.end_s});
  const Array<WindowTimes> device_times(context, times);
  PeakBatch selected;
  select_strongest(context, dense, device_times.data(), per_second, selected);
  return download_lists(selected);
}

}  // namespace spintag::fingerprint::cuda
