// fingerprint/cuda/landmarks.cu - a query's probes, a warp for each anchor: counted, placed,
// written.
#include "fingerprint/cuda/landmarks.cuh"

#include <bit>

#include "fingerprint/cuda/batch_tools.cuh"
#include "fingerprint/cuda/lists.h"
#include "fingerprint/landmark_math.h"

namespace spintag::fingerprint::cuda {
namespace {

using namespace landmark_math;
using kernels::cuda::Array;
using kernels::cuda::launch;

constexpr unsigned kFull = 0xFFFFFFFFU;
constexpr unsigned kWarps = 8;               ///< of a block
constexpr unsigned kAnchorsPerWarp = 4;      ///< one after the other; they share most targets
constexpr unsigned kProbesPerStep = 4 * 32;  ///< a pair asks for at most 2 x 2 bins

/// A probe as one word.
using Word = unsigned long long;
static_assert(sizeof(Probe) == sizeof(Word));

__global__ void __launch_bounds__(kBlockThreads)
    warp_peaks(const Peak* peaks, const std::uint32_t* begin, std::uint32_t windows,
               std::uint32_t total, const WindowTimes* times, Hypothesis hypothesis, double soft_u,
               ProbePeak* warped, std::uint32_t* window_end) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const std::uint32_t window = list_of(begin, windows, i);
  warped[i] = warp(peaks[i], times[window].start_s, hypothesis, soft_u);
  window_end[i] = begin[window + 1];
}

/// Calls take(target of this lane, whether it is one, mask of the lanes that hold one) for each 32
/// peaks behind an anchor, as long as they may lie in its zone.
template <class Take>
__device__ void for_zone(const ProbePeak* peaks, std::uint32_t anchor, std::uint32_t end,
                         Take&& take) {
  const unsigned lane = threadIdx.x % 32;
  const double anchor_time = peaks[anchor].time_s;
  const double anchor_u = peaks[anchor].u;
  for (std::uint32_t first = anchor + 1; first < end; first += 32) {
    const std::uint32_t target = first + lane;
    bool beyond = target >= end;
    bool inside = false;
    if (!beyond) {
      const double dt = peaks[target].time_s - anchor_time;
      beyond = dt > Profile::max_dt_s;
      inside = in_zone(dt, anchor_u, peaks[target].u);
    }
    // Nothing behind the first peak that is too late counts.
    const unsigned late = __ballot_sync(kFull, beyond);
    const unsigned before = late == 0 ? kFull : (late & -late) - 1;
    const unsigned targets = __ballot_sync(kFull, inside) & before;
    take(target, (targets >> lane & 1) != 0, targets);
    if (late != 0) return;
  }
}

__global__ void __launch_bounds__(32 * kWarps)
    count_probes(const ProbePeak* peaks, const std::uint32_t* window_end, std::uint32_t total,
                 std::uint32_t* counts) {
  const std::uint32_t first =
      (blockIdx.x * kWarps + threadIdx.x / 32) * std::uint32_t{kAnchorsPerWarp};
  for (std::uint32_t i = first; i < total && i < first + kAnchorsPerWarp; ++i) {
    unsigned bins = 0;  // of all targets
    for_zone(peaks, i, window_end[i], [&](std::uint32_t target, bool is_target, unsigned targets) {
      const bool two = is_target && peaks[target].bins.count() == 2;
      bins += __popc(targets) + __popc(__ballot_sync(kFull, two));
    });
    if (threadIdx.x % 32 == 0) {
      counts[i] = bins * static_cast<unsigned>(fitting(peaks[i].bins).count());
    }
  }
}

/// What a warp needs to write the probes of its anchors in order, all lanes at work.
struct Outbox {
  std::uint32_t targets[64];  ///< found, not yet written
  Word probes[kProbesPerStep];
};

/// Writes the probes of an anchor with targets[0, count); count <= 32.
/// @return how many
__device__ unsigned write_step(const ProbePeak* peaks, const ProbePeak& anchor, Outbox& outbox,
                               unsigned count, double soft_dt, Word* out) {
  const unsigned lane = threadIdx.x % 32;
  const SoftBin bins = fitting(anchor.bins);
  const auto anchor_bins = static_cast<unsigned>(bins.count());
  ProbePeak target = anchor;
  if (lane < count) target = peaks[outbox.targets[lane]];
  const unsigned two = __ballot_sync(kFull, lane < count && target.bins.count() == 2);
  if (lane < count) {
    const ProbeTime time(target.time_s - anchor.time_s, soft_dt);
    unsigned place = anchor_bins * (lane + __popc(two & ((1U << lane) - 1)));
    for (int a = bins.first; a <= bins.last; ++a) {
      for (int b = target.bins.first; b <= target.bins.last; ++b) {
        outbox.probes[place++] = std::bit_cast<Word>(
            Probe{pack(a, b - a, time.first), time.count, anchor_step(anchor.time_s)});
      }
    }
  }
  __syncwarp();
  const unsigned written = anchor_bins * (count + __popc(two));
  for (unsigned k = lane; k < written; k += 32) out[k] = outbox.probes[k];
  __syncwarp();
  return written;
}

__global__ void __launch_bounds__(32 * kWarps)
    write_probes(const ProbePeak* peaks, const std::uint32_t* window_end, std::uint32_t total,
                 const std::uint32_t* places, double soft_dt, Word* probes) {
  __shared__ Outbox outboxes[kWarps];
  Outbox& outbox = outboxes[threadIdx.x / 32];
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t first =
      (blockIdx.x * kWarps + threadIdx.x / 32) * std::uint32_t{kAnchorsPerWarp};
  for (std::uint32_t i = first; i < total && i < first + kAnchorsPerWarp; ++i) {
    const ProbePeak anchor = peaks[i];
    Word* out = probes + places[i];
    unsigned waiting = 0;
    for_zone(peaks, i, window_end[i], [&](std::uint32_t target, bool is_target, unsigned targets) {
      if (is_target) {
        outbox.targets[waiting + __popc(targets & ((1U << lane) - 1))] = target;
      }
      waiting += __popc(targets);
      __syncwarp();
      if (waiting < 32) return;
      out += write_step(peaks, anchor, outbox, 32, soft_dt, out);
      waiting -= 32;
      if (lane < waiting) outbox.targets[lane] = outbox.targets[32 + lane];
      __syncwarp();
    });
    if (waiting > 0) write_step(peaks, anchor, outbox, waiting, soft_dt, out);
  }
}

}  // namespace

void make_query_probes(const ContextPointer& context, const PeakBatch& selected,
                       const WindowTimes* windows, const Hypothesis& hypothesis,
                       const Softness& soft, ProbeBatch& out) {
  const std::uint32_t total = selected.total;
  const Array<ProbePeak> warped(context, total);
  const Array<std::uint32_t> window_end(context, total);
  Array<std::uint32_t> counts(context, total + std::size_t{1});
  launch(*context, warp_peaks, blocks_for(total), kBlockThreads, 0, selected.values.data(),
         selected.begin.data(), selected.count, total, windows, hypothesis, soft.u, warped.data(),
         window_end.data());
  constexpr unsigned kAnchorsPerBlock = kWarps * kAnchorsPerWarp;
  const unsigned blocks = (total + (kAnchorsPerBlock - 1)) / kAnchorsPerBlock;
  launch(*context, count_probes, blocks, 32 * kWarps, 0, warped.data(), window_end.data(), total,
         counts.data());
  Places places = make_places(context, std::move(counts), selected.begin, selected.count);
  out.count = selected.count;
  out.total = places.read_total(*context, "probes");
  out.values = Array<Probe>(context, out.total);
  out.begin = std::move(places.begin);
  if (out.total == 0) return;
  launch(*context, write_probes, blocks, 32 * kWarps, 0, warped.data(), window_end.data(), total,
         places.of_value.data(), soft.dt, reinterpret_cast<Word*>(out.values.data()));
}

std::vector<std::vector<Probe>> make_query_probes(kernels::Device& device,
                                                  std::span<const std::span<const Peak>> lists,
                                                  std::span<const double> origins_s,
                                                  const Hypothesis& hypothesis,
                                                  const Softness& soft) {
  const ContextPointer& context = device.shared_context();
  context->make_current();
  const PeakBatch peaks = upload_lists(context, lists);
  std::vector<WindowTimes> times;
  for (const double origin_s : origins_s) times.push_back({origin_s, origin_s});
  const Array<WindowTimes> windows(context, times);
  ProbeBatch probes;
  make_query_probes(context, peaks, windows.data(), hypothesis, soft, probes);
  return download_lists(probes);
}

}  // namespace spintag::fingerprint::cuda
