// fingerprint/cuda/dejavu.cu - the `dejavu` profile's pairs: a thread counts an anchor's, half a
// warp writes them.
#include "fingerprint/cuda/dejavu.cuh"

#include <algorithm>

#include "fingerprint/cuda/batch_tools.cuh"
#include "fingerprint/cuda/lists.h"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;
using kernels::cuda::launch;

constexpr unsigned kWriters = 16;  ///< threads of an anchor: fan_out - 1 = 14 are at work

/// @param most  targets that an anchor may have
__global__ void __launch_bounds__(kBlockThreads)
    count_targets(const kernels::Peak* peaks, const std::uint32_t* begin, std::uint32_t lists,
                  std::uint32_t total, std::uint32_t most, std::uint32_t* counts) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const std::uint32_t left = begin[list_of(begin, lists, i) + 1] - i - 1;
  const std::uint32_t limit = std::min(left, most);
  const std::uint32_t frame = peaks[i].frame;
  std::uint32_t count = 0;  // peaks are in time order: the first too far ends the zone
  while (count < limit && peaks[i + 1 + count].frame - frame <= DejavuProfile::max_dt_frames) {
    ++count;
  }
  counts[i] = count;
}

__global__ void __launch_bounds__(kBlockThreads)
    write_pairs(const kernels::Peak* peaks, std::uint32_t total, const std::uint32_t* places,
                DejavuLandmark* out) {
  const std::uint32_t i = blockIdx.x * (kBlockThreads / kWriters) + threadIdx.x / kWriters;
  if (i >= total) return;
  const std::uint32_t frame = peaks[i].frame;
  const auto bin = static_cast<std::uint16_t>(peaks[i].bin);
  const std::uint32_t first = places[i];
  const std::uint32_t count = places[i + 1] - first;
  for (std::uint32_t k = threadIdx.x % kWriters; k < count; k += kWriters) {
    DejavuLandmark landmark;
    landmark.frame = frame;
    landmark.bin = bin;
    landmark.next_bin = static_cast<std::uint16_t>(peaks[i + 1 + k].bin);
    landmark.dt_frames = static_cast<std::uint16_t>(peaks[i + 1 + k].frame - frame);
    out[first + k] = landmark;
  }
}

}  // namespace

void dejavu_landmarks(const ContextPointer& context, const Batch<kernels::Peak>& peaks,
                      const DejavuProfile& profile, Batch<DejavuLandmark>& out) {
  const std::uint32_t total = peaks.total;
  const std::size_t most =
      std::min<std::size_t>(std::max<std::size_t>(profile.fan_out, 1) - 1, total);
  Array<std::uint32_t> counts(context, total + std::size_t{1});
  launch(*context, count_targets, blocks_for(total), kBlockThreads, 0, peaks.values.data(),
         peaks.begin.data(), peaks.count, total, static_cast<std::uint32_t>(most), counts.data());
  Places places = make_places(context, std::move(counts), peaks.begin, peaks.count);
  out.count = peaks.count;
  out.total = places.read_total(*context, "landmarks");
  out.values = Array<DejavuLandmark>(context, out.total);
  launch(*context, write_pairs, blocks_for(std::size_t{total} * kWriters), kBlockThreads, 0,
         peaks.values.data(), total, places.of_value.data(), out.values.data());
  out.begin = std::move(places.begin);
}

std::vector<std::vector<DejavuLandmark>> dejavu_landmarks(
    kernels::Device& device, std::span<const std::span<const kernels::Peak>> lists,
    const DejavuProfile& profile) {
  const ContextPointer& context = device.shared_context();
  context->make_current();
  const Batch<kernels::Peak> peaks = upload_lists(context, lists);
  Batch<DejavuLandmark> landmarks;
  dejavu_landmarks(context, peaks, profile, landmarks);
  return download_lists(landmarks);
}

}  // namespace spintag::fingerprint::cuda
