// fingerprint/cuda/compaction.cu - keeps some of the peaks of each list.
#include "fingerprint/cuda/compaction.cuh"

#include "fingerprint/peak_order.h"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;
using kernels::cuda::launch;

/// Equal peaks keep the order that they came in.
__device__ bool comes_first(const Peak* peaks, std::uint32_t a, std::uint32_t b) {
  return is_earlier(peaks[a], peaks[b]) || (a < b && !is_earlier(peaks[b], peaks[a]));
}

__global__ void __launch_bounds__(kBlockThreads)
    take_kept(const Peak* peaks, const std::uint32_t* begin, std::uint32_t lists, const Fate* fate,
              const std::uint32_t* places, Peak* out) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= begin[lists] || fate[i] == Fate::kGoes) return;
  std::uint32_t place = places[i];
  if (fate[i] == Fate::kSorted) {
    const std::uint32_t list = list_of(begin, lists, i);
    for (std::uint32_t j = i; j > begin[list] && peaks[j - 1].time_s == peaks[i].time_s; --j) {
      if (fate[j - 1] != Fate::kGoes && comes_first(peaks, i, j - 1)) --place;
    }
    for (std::uint32_t j = i + 1; j < begin[list + 1] && peaks[j].time_s == peaks[i].time_s; ++j) {
      if (fate[j] != Fate::kGoes && comes_first(peaks, j, i)) ++place;
    }
  }
  out[place] = peaks[i];
}

}  // namespace

Places compact(const ContextPointer& context, const PeakBatch& from, Array<std::uint32_t> kept,
               const Array<Fate>& fate, PeakBatch& out) {
  Places places = make_places(context, std::move(kept), from.begin, from.count);
  out.count = from.count;
  out.total = from.total;
  out.values = Array<Peak>(context, from.total);
  launch(*context, take_kept, blocks_for(from.total), kBlockThreads, 0, from.values.data(),
         from.begin.data(), from.count, fate.data(), places.of_value.data(), out.values.data());
  out.begin = std::move(places.begin);
  return places;
}

}  // namespace spintag::fingerprint::cuda
