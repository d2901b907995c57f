// fingerprint/cuda/verification.cu - a warp an alignment: its reference points in shared memory,
// point i of the stretch inside the window on lane i modulo 32, sums joined by shuffles.
#include "fingerprint/cuda/verification.cuh"

#include <algorithm>
#include <string>

#include "fingerprint/chernoff.h"
#include "fingerprint/cuda/reference_window.cuh"
#include "fingerprint/fit_sums.h"
#include "fingerprint/profile.h"
#include "fingerprint/verification_math.h"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;
using kernels::cuda::Context;
using namespace verification;
constexpr int kMostWarps = 4;  ///< of a block

__device__ double warp_sum(double value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kWholeWarp, value, step);
  return value;
}

/// Partial sums joined in halves. Every lane ends with the bits that lane 0 has, because a + b is
/// b + a.
__device__ FitSums warp_sum(const FitSums& sums) {
  FitSums all;
  all.pairs = warp_sum(sums.pairs);
  all.weight = warp_sum(sums.weight);
  all.q = warp_sum(sums.q);
  all.e = warp_sum(sums.e);
  all.qq = warp_sum(sums.qq);
  all.qe = warp_sum(sums.qe);
  all.ln_pitch = warp_sum(sums.ln_pitch);
  return all;
}

__device__ Fit refine_fit(const QueryArrays& query, const ReferencePoint* points,
                          const Range& reach, const Fit& begin) {
  Fit fit = begin;
  for (int round = 0; round < kRounds; ++round) {
    const Placement placement(fit, begin.pitch);
    const Ellipse ellipse = ellipse_of(round);
    const Range inside = within(points, reach, inside_window(fit, query.length_s));
    FitSums sums;
    for (std::uint32_t i = inside.first + threadIdx.x % 32; i < inside.last; i += 32) {
      const ReferencePoint point = points[i];
      const Nearest found = nearest(query, point, placement.at(point), placement, ellipse);
      if (found.index != Nearest::kNone) sums.add(query, point, fit, begin.tempo, found);
    }
    fit = refit(warp_sum(sums), query.length_s, begin, fit);
  }
  return fit;
}

/// What is left of a point once its coincidence is known; lies where the point was. Only the lane
/// that has the point reads and writes it.
struct alignas(16) Trace {
  static constexpr std::uint32_t kNotFound = 0xFFFFFFFF;
  float chance;
  std::uint32_t loss_rank;  ///< unsigned numbers in the order of the losses; kNotFound = no peak
  float unused[2];
};
static_assert(sizeof(Trace) == sizeof(ReferencePoint));

__device__ std::uint32_t rank_of(float value) {
  const auto bits = __float_as_uint(value);
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
}
__device__ float value_of(std::uint32_t rank) {
  return __uint_as_float(rank >> 31 != 0 ? rank & 0x7FFFFFFFU : ~rank);
}

/// The largest rank that at most `below` others lie below: bit by bit from the top.
__device__ std::uint32_t select(const Trace* traces, std::uint32_t count, std::uint32_t below) {
  std::uint32_t rank = 0;
  for (std::uint32_t bit = 0x80000000U; bit != 0; bit >>= 1) {
    std::uint32_t less = 0;
    for (std::uint32_t i = threadIdx.x % 32; i < count; i += 32)
      less += traces[i].loss_rank < (rank | bit) ? 1 : 0;
    if (__reduce_add_sync(kWholeWarp, less) <= below) rank |= bit;
  }
  return rank;
}

__device__ double chernoff_bound(const Trace* traces, std::uint32_t count, double total_weight,
                                 double s) {
  const ChernoffFactor factor(s);
  Product product;
  std::uint32_t row = 0;
  for (std::uint32_t i = threadIdx.x % 32; i < count; i += 32) {
    product.value *= factor.of(traces[i].chance);
    if (++row % Product::kBetween == 0) product.normalise();
  }
  product.normalise();
  product.exponent = __reduce_add_sync(kWholeWarp, product.exponent);
  for (int step = 16; step > 0; step /= 2)
    product.value *= __shfl_xor_sync(kWholeWarp, product.value, step);
  return s * total_weight - product.log();
}

__device__ double chernoff_score(const Trace* traces, std::uint32_t count, double total_weight) {
  BoundSearch search;
  search.at_a = chernoff_bound(traces, count, total_weight, search.a);
  search.at_b = chernoff_bound(traces, count, total_weight, search.b);
  while (search.wide()) {
    const double s = search.narrow();
    search.set(chernoff_bound(traces, count, total_weight, s));
  }
  return search.score();
}

/// Scores the alignment as it stands. Overwrites the points.
__device__ void score(const QueryArrays& query, ReferencePoint* points, const Range& reach,
                      double reference_pitch, Verdict& verdict) {
  if (query.count == 0) return;
  const Range inside = within(points, reach, inside_window(verdict.fit, query.length_s));
  const std::uint32_t count = inside.last - inside.first;
  verdict.expected = static_cast<int>(count);
  if (count == 0) return;
  __syncwarp();  // within() read points that others overwrite now
  auto* const traces = reinterpret_cast<Trace*>(points + inside.first);
  const Placement placement(verdict.fit, reference_pitch);
  const ChanceModel chance(query);
  double weight = 0;
  std::uint32_t found = 0;
  for (std::uint32_t i = threadIdx.x % 32; i < count; i += 32) {
    const ReferencePoint point = points[inside.first + i];
    const Coincidence c = coincidence_of(query, point, placement, chance);
    weight += c.weight;
    found += c.weight > 0 ? 1 : 0;
    traces[i] = {c.chance, c.weight > 0 ? rank_of(c.loss_db) : Trace::kNotFound, {0, 0}};
  }
  found = __reduce_add_sync(kWholeWarp, found);
  verdict.found_share = static_cast<double>(found) / verdict.expected;
  if (found >= kEnoughForMasking) verdict.masking_db = value_of(select(traces, count, found / 2));
  verdict.score = chernoff_score(traces, count, warp_sum(weight));
}

/// What every warp of both kernels begins with.
struct WarpTask {
  /// @param capacity  points of each warp's shared memory
  __device__ WarpTask(const QueryArrays* views, const VerifyTask& task, std::uint32_t capacity)
      : query(views[task.window]),
        points(kernels::cuda::dynamic_shared<ReferencePoint>() + threadIdx.x / 32 * capacity),
        kept(read_reference(task.packed, task.packed_bytes,
                            within_reach_unsettled(task.fit, query.length_s), task.fit.pitch,
                            points, capacity)),
        fits(kept <= capacity) {}

  QueryArrays query;
  ReferencePoint* points;
  std::uint32_t kept;
  bool fits;
};

__global__ void __launch_bounds__(32 * kMostWarps)
    settle_tasks(const QueryArrays* views, const VerifyTask* tasks, std::size_t count,
                 std::uint32_t capacity, Settled* settled) {
  const std::size_t index = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (index >= count) return;
  const VerifyTask task = tasks[index];
  const WarpTask warp(views, task, capacity);
  Settled result;
  result.fit = task.fit;
  result.coincidences = kTooDense;
  if (warp.fits) {
    const Placement placement(task.fit, task.fit.pitch);
    const Range inside =
        within(warp.points, {0, warp.kept}, inside_window(task.fit, warp.query.length_s));
    int counts[kOffsets] = {};
    for (std::uint32_t i = inside.first + threadIdx.x % 32; i < inside.last; i += 32) {
      const std::uint32_t met = offsets_met(warp.query, warp.points[i], placement);
#pragma unroll
      for (int k = 0; k < kOffsets; ++k) counts[k] += static_cast<int>(met >> k & 1);
    }
#pragma unroll
    for (int k = 0; k < kOffsets; ++k) counts[k] = __reduce_add_sync(kWholeWarp, counts[k]);
    const SettledOffset best = best_offset(counts);
    result.fit.offset_s += best.shift_s;
    result.coincidences = best.coincidences;
  }
  if (threadIdx.x % 32 == 0) settled[index] = result;
}

__global__ void __launch_bounds__(32 * kMostWarps)
    verify_tasks(const QueryArrays* views, const VerifyTask* tasks, std::size_t count,
                 std::uint32_t capacity, bool refine, Verdict* verdicts) {
  const std::size_t index = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (index >= count) return;
  const VerifyTask task = tasks[index];
  const WarpTask warp(views, task, capacity);
  Verdict verdict;
  verdict.fit = task.fit;
  if (warp.fits) {
    const Range reach =
        within(warp.points, {0, warp.kept}, within_reach(task.fit, warp.query.length_s));
    if (refine) verdict.fit = refine_fit(warp.query, warp.points, reach, task.fit);
    score(warp.query, warp.points, reach, task.fit.pitch, verdict);
  } else {
    verdict.expected = kTooDense;
  }
  if (threadIdx.x % 32 == 0) verdicts[index] = verdict;
}

/// How the warps of a block share its memory.
struct Shape {
  std::uint32_t capacity;  ///< points of a warp
  unsigned warps;
  std::size_t shared_bytes() const { return sizeof(ReferencePoint) * capacity * warps; }
};

/// Room for twice the density of a reference, and so for twice the tempo.
Shape shape_for(const Context& context, double longest_s) {
  const double densest = 2.0 * BroadcastProfile::reference_peaks_per_s;
  const double room =
      static_cast<double>(context.shared_bytes_per_block() / sizeof(ReferencePoint));
  const double wanted = densest * (longest_s + 2);
  if (!(wanted + 32 <= room)) {
    throw kernels::DeviceError(context.name() + ": a window of " + std::to_string(longest_s) +
                               " s is too long to be verified on the device (at most " +
                               std::to_string(static_cast<int>((room - 32) / densest - 2)) + " s)");
  }
  Shape shape{(static_cast<std::uint32_t>(wanted) + 31) / 32 * 32, kMostWarps};
  while (shape.shared_bytes() > context.shared_bytes_per_block()) shape.warps /= 2;
  return shape;
}

}  // namespace

Array<Settled> settle_offsets(const std::shared_ptr<Context>& context, const QueryViews& views,
                              const Array<VerifyTask>& tasks, std::size_t count) {
  const Shape shape = shape_for(*context, views.longest_s);
  Array<Settled> settled(context, count);
  launch(*context, settle_tasks,
         dim3(static_cast<unsigned>((count + shape.warps - 1) / shape.warps)),
         dim3(32 * shape.warps), shape.shared_bytes(), views.views.data(), tasks.data(), count,
         shape.capacity, settled.data());
  return settled;
}

Array<Verdict> verify(const std::shared_ptr<Context>& context, const QueryViews& views,
                      const Array<VerifyTask>& tasks, std::size_t count, bool refine) {
  const Shape shape = shape_for(*context, views.longest_s);
  Array<Verdict> verdicts(context, count);
  launch(*context, verify_tasks,
         dim3(static_cast<unsigned>((count + shape.warps - 1) / shape.warps)),
         dim3(32 * shape.warps), shape.shared_bytes(), views.views.data(), tasks.data(), count,
         shape.capacity, refine, verdicts.data());
  return verdicts;
}

}  // namespace spintag::fingerprint::cuda
