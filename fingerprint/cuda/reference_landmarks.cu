// fingerprint/cuda/reference_landmarks.cu - a reference's landmarks, a thread for each anchor.
#include "fingerprint/cuda/batch_tools.cuh"
#include "fingerprint/cuda/landmarks.cuh"
#include "fingerprint/cuda/lists.h"
#include "fingerprint/landmark_math.h"

namespace spintag::fingerprint::cuda {
namespace {

using namespace landmark_math;
using kernels::cuda::Array;
using kernels::cuda::launch;

/// What pairs need of a peak.
struct Point {
  double time_s;
  double u;
  float salience_db;
  std::uint32_t list_end;  ///< place of the first peak of the next list
};

/// The hashes of one anchor; the first `count` are meant.
struct AnchorHashes {
  std::uint32_t hash[Profile::targets_per_anchor];
  std::uint32_t count;
};

__global__ void __launch_bounds__(kBlockThreads)
    scale_peaks(const Peak* peaks, const std::uint32_t* begin, std::uint32_t lists,
                std::uint32_t total, Point* points) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const Peak peak = peaks[i];
  points[i] = {peak.time_s, frequency_to_u(peak.freq_hz), peak.salience_db,
               begin[list_of(begin, lists, i) + 1]};
}

__global__ void __launch_bounds__(kBlockThreads)
    hash_anchors(const Point* points, std::uint32_t total, AnchorHashes* hashes,
                 std::uint32_t* counts) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const Point anchor = points[i];
  BestTargets best;
  for (std::uint32_t j = i + 1; j < anchor.list_end; ++j) {
    const Point target = points[j];
    const double dt = target.time_s - anchor.time_s;
    if (dt > Profile::max_dt_s) break;
    if (in_zone(dt, anchor.u, target.u)) best.add(j, target.salience_db);
  }
  AnchorHashes found;
  found.count = 0;
#pragma unroll
  for (int k = 0; k < Profile::targets_per_anchor; ++k) {
    if (k >= best.found) break;
    const Point target = points[best.index[k]];
    std::uint32_t hash = 0;
    if (!reference_hash(anchor.u, target.u, target.time_s - anchor.time_s, hash)) continue;
#pragma unroll
    for (int slot = 0; slot < Profile::targets_per_anchor; ++slot) {  // constant places: registers
      if (static_cast<std::uint32_t>(slot) == found.count) found.hash[slot] = hash;
    }
    ++found.count;
  }
  hashes[i] = found;
  counts[i] = found.count;
}

__global__ void __launch_bounds__(kBlockThreads)
    write_landmarks(const Point* points, std::uint32_t total, const AnchorHashes* hashes,
                    const std::uint32_t* places, Landmark* out) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  for (std::uint32_t k = 0; k < hashes[i].count; ++k) {
    out[places[i] + k].hash = hashes[i].hash[k];
    out[places[i] + k].anchor_time_s = points[i].time_s;
  }
}

}  // namespace

void make_reference_landmarks(const ContextPointer& context, const PeakBatch& peaks,
                              Batch<Landmark>& out) {
  const std::uint32_t total = peaks.total;
  const Array<Point> points(context, total);
  const Array<AnchorHashes> hashes(context, total);
  Array<std::uint32_t> counts(context, total + std::size_t{1});
  launch(*context, scale_peaks, blocks_for(total), kBlockThreads, 0, peaks.values.data(),
         peaks.begin.data(), peaks.count, total, points.data());
  launch(*context, hash_anchors, blocks_for(total), kBlockThreads, 0, points.data(), total,
         hashes.data(), counts.data());
  Places places = make_places(context, std::move(counts), peaks.begin, peaks.count);
  out.count = peaks.count;
  out.total = places.read_total(*context, "landmarks");
  out.values = Array<Landmark>(context, out.total);
  launch(*context, write_landmarks, blocks_for(total), kBlockThreads, 0, points.data(), total,
         hashes.data(), places.of_value.data(), out.values.data());
  out.begin = std::move(places.begin);
}

std::vector<std::vector<Landmark>> make_reference_landmarks(
    kernels::Device& device, std::span<const std::span<const Peak>> lists) {
  const ContextPointer& context = device.shared_context();
  context->make_current();
  const PeakBatch peaks = upload_lists(context, lists);
  Batch<Landmark> landmarks;
  make_reference_landmarks(context, peaks, landmarks);
  return download_lists(landmarks);
}

}  // namespace spintag::fingerprint::cuda
