// fingerprint/cuda/reference.cu - thinning, quantising and packing, a thread for each peak.
#include "fingerprint/cuda/reference.cuh"

#include <cmath>
#include <cstring>

#include "fingerprint/cuda/compaction.cuh"
#include "fingerprint/cuda/lists.h"
#include "fingerprint/packed_peak.h"
#include "fingerprint/peak_order.h"
#include "fingerprint/profile.h"

namespace spintag::fingerprint::cuda {
namespace {

using Profile = BroadcastProfile;
using kernels::cuda::Array;
using kernels::cuda::launch;

/// A batch as kernels see it.
struct PeakLists {
  explicit PeakLists(const PeakBatch& batch)
      : peaks(batch.values.data()), begin(batch.begin.data()), count(batch.count) {}
  const Peak* peaks;
  const std::uint32_t* begin;
  std::uint32_t count;
};

__device__ std::uint32_t own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ bool hides(const Peak& other, const Peak& peak) {
  return std::abs(other.freq_hz - peak.freq_hz) <= Profile::thin_hz && is_stronger(other, peak);
}

/// Peaks without a stronger one near them in time and frequency.
__device__ bool stands_alone(const PeakLists& lists, std::uint32_t i) {
  const std::uint32_t list = list_of(lists.begin, lists.count, i);
  const Peak peak = lists.peaks[i];
  for (std::uint32_t j = i; j > lists.begin[list]; --j) {
    const Peak other = lists.peaks[j - 1];
    if (peak.time_s - other.time_s > Profile::thin_s) break;
    if (hides(other, peak)) return false;
  }
  for (std::uint32_t j = i + 1; j < lists.begin[list + 1]; ++j) {
    const Peak other = lists.peaks[j];
    if (!(other.time_s - peak.time_s <= Profile::thin_s)) break;
    if (hides(other, peak)) return false;
  }
  return true;
}

/// Whether fewer than `limit` peaks of its second rank before it; of equals the first ones do.
__device__ bool is_among_strongest(const PeakLists& lists, std::uint32_t i, int limit) {
  const std::uint32_t list = list_of(lists.begin, lists.count, i);
  const Peak peak = lists.peaks[i];
  const double second = std::floor(peak.time_s);
  int rank = 0;
  for (std::uint32_t j = i; j > lists.begin[list] && rank < limit; --j) {
    const Peak other = lists.peaks[j - 1];
    if (other.time_s < second) break;
    rank += is_stronger(peak, other) ? 0 : 1;
  }
  for (std::uint32_t j = i + 1; j < lists.begin[list + 1] && rank < limit; ++j) {
    const Peak other = lists.peaks[j];
    if (other.time_s >= second + 1) break;
    rank += is_stronger(other, peak) ? 1 : 0;
  }
  return rank < limit;
}

__global__ void __launch_bounds__(kBlockThreads)
    mark_alone(PeakLists lists, std::uint32_t* kept, Fate* fate) {
  const std::uint32_t i = own_index();
  if (i >= lists.begin[lists.count]) return;
  const bool stays = stands_alone(lists, i);
  kept[i] = stays ? 1 : 0;
  fate[i] = stays ? Fate::kStays : Fate::kGoes;
}

/// @param size  of `kept`; no peak lies at or behind lists.begin[count]
__global__ void __launch_bounds__(kBlockThreads)
    mark_strongest(PeakLists lists, std::uint32_t size, std::uint32_t* kept, Fate* fate) {
  const std::uint32_t i = own_index();
  if (i >= size) return;
  const bool stays =
      i < lists.begin[lists.count] && is_among_strongest(lists, i, Profile::reference_peaks_per_s);
  kept[i] = stays ? 1 : 0;
  fate[i] = stays ? Fate::kSorted : Fate::kGoes;
}

/// The time since the peak before, or since 0, in the steps of the packing.
__device__ std::int64_t delta_of(const PeakLists& lists, std::uint32_t i) {
  const bool first = i == lists.begin[list_of(lists.begin, lists.count, i)];
  return PackedPeak::ticks(lists.peaks[i].time_s) -
         (first ? 0 : PackedPeak::ticks(lists.peaks[i - 1].time_s));
}

/// Records that go before a peak and are no peak.
__device__ std::uint32_t pauses_for(std::int64_t delta) {
  constexpr std::int64_t kMost = 0x7FFFFFFF;  // far more than fit
  const std::int64_t pauses = delta > 0 ? (delta - 1) / PackedPeak::kMaxDelta : 0;
  return static_cast<std::uint32_t>(pauses < kMost ? pauses : kMost);
}

__global__ void __launch_bounds__(kBlockThreads)
    count_bytes(PeakLists lists, std::uint32_t size, std::uint32_t* bytes) {
  const std::uint32_t i = own_index();
  if (i >= size) return;
  const bool is_peak = i < lists.begin[lists.count];
  const std::uint64_t records = is_peak ? std::uint64_t{pauses_for(delta_of(lists, i))} + 1 : 0;
  const std::uint64_t wanted = records * PackedPeak::kBytes;
  bytes[i] = wanted < 0xFFFFFFFFU ? static_cast<std::uint32_t>(wanted) : 0xFFFFFFFFU;
}

__device__ std::byte* write(std::byte* out, PackedPeak peak) {
  for (unsigned shift = 0; shift < 24; shift += 8) {
    *out++ = static_cast<std::byte>(peak.word >> shift & 0xFF);
  }
  return out;
}

/// @param places  of the bytes of each peak
/// @param unpacked  [total] what unpack_peaks() will give
__global__ void __launch_bounds__(kBlockThreads)
    pack_peaks(PeakLists lists, const std::uint32_t* places, std::byte* packed, Peak* unpacked) {
  const std::uint32_t i = own_index();
  if (i >= lists.begin[lists.count]) return;
  const std::int64_t delta = delta_of(lists, i);
  const std::uint32_t pauses = pauses_for(delta);
  std::byte* out = packed + places[i];
  for (std::uint32_t k = 0; k < pauses; ++k) out = write(out, PackedPeak::pause());
  const PackedPeak peak = PackedPeak::of(lists.peaks[i], delta - pauses * PackedPeak::kMaxDelta);
  write(out, peak);
  const std::int64_t clock = PackedPeak::ticks(lists.peaks[i].time_s);
  unpacked[i].time_s = static_cast<double>(clock) * PackedPeak::kTimeStep;
  unpacked[i].freq_hz = peak.freq_hz();
  unpacked[i].salience_db = peak.salience_db();
}

/// Thinned peaks; `total` stays the most that it can be.
PeakBatch thin(const ContextPointer& context, const PeakBatch& dense) {
  Array<std::uint32_t> kept(context, dense.total + std::size_t{1});
  const Array<Fate> fate(context, dense.total);
  launch(*context, mark_alone, blocks_for(dense.total), kBlockThreads, 0, PeakLists(dense),
         kept.data(), fate.data());
  PeakBatch alone;
  compact(context, dense, std::move(kept), fate, alone);

  Array<std::uint32_t> strongest(context, dense.total + std::size_t{1});
  launch(*context, mark_strongest, blocks_for(dense.total), kBlockThreads, 0, PeakLists(alone),
         dense.total, strongest.data(), fate.data());
  PeakBatch thinned;
  compact(context, alone, std::move(strongest), fate, thinned);
  return thinned;
}

}  // namespace

void make_references(const ContextPointer& context, const PeakBatch& dense, ReferenceBatch& out) {
  PeakBatch thinned = thin(context, dense);
  Array<std::uint32_t> bytes(context, dense.total + std::size_t{1});
  launch(*context, count_bytes, blocks_for(dense.total), kBlockThreads, 0, PeakLists(thinned),
         dense.total, bytes.data());
  Places places = make_places(context, std::move(bytes), thinned.begin, thinned.count);
  out.packed.count = thinned.count;
  out.packed.total = places.read_total(*context, "bytes of packed peaks");
  std::uint32_t peaks = 0;
  context->check(cudaMemcpyAsync(&peaks, thinned.begin.data() + thinned.count, sizeof peaks,
                                 cudaMemcpyDeviceToHost, context->stream()),
                 "copying from the device");
  context->synchronize();
  out.packed.values = Array<std::byte>(context, out.packed.total);
  out.packed.begin = std::move(places.begin);
  out.peaks.values = Array<Peak>(context, peaks);
  launch(*context, pack_peaks, blocks_for(peaks), kBlockThreads, 0, PeakLists(thinned),
         places.of_value.data(), out.packed.values.data(), out.peaks.values.data());
  out.peaks.begin = std::move(thinned.begin);
  out.peaks.count = thinned.count;
  out.peaks.total = peaks;
}

std::vector<PackedPeaks> make_references(kernels::Device& device,
                                         std::span<const std::span<const Peak>> dense) {
  const ContextPointer& context = device.shared_context();
  context->make_current();
  const PeakBatch batch = upload_lists(context, dense);
  ReferenceBatch references;
  make_references(context, batch, references);
  return download_lists(references.packed);
}

}  // namespace spintag::fingerprint::cuda
