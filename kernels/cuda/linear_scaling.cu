// kernels/cuda/linear_scaling.cu - a thread tries a start at all scales, a block takes a sequence.
//
// The queries at all scales begin at the same sample, so that a sample is read once for all of them
// and its sum and sum of squares run along. Queries are sorted by length: after the end of each,
// those that are over are left out of the loop at compile time. All sums are integers below 2^24,
// so that floats hold them and their order is free.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/cuda/context.cuh"
#include "kernels/linear_scaling.h"

namespace spintag::kernels::cuda {
namespace {

constexpr int kScales = 16;  ///< that are tried at once
constexpr int kQuads = kScales / 4;
/// So many that a long sequence that comes last does not keep one multiprocessor at work for long.
constexpr unsigned kThreads = 256;
constexpr unsigned kWarps = kThreads / 32;
constexpr unsigned kFull = 0xFFFFFFFFU;
constexpr double kNowhere = std::numeric_limits<double>::infinity();

/// A query; of length 0 where there are less than kScales.
struct Scale {
  double sum = 0;
  double squares = 0;
  std::uint32_t length = 0;
  std::uint32_t inside = 0;  ///< samples of it that have to lie in the sequence
  std::uint32_t query = 0;   ///< its number
};

struct Arguments {
  const float* samples;
  const std::size_t* firsts;
  const std::uint32_t* starts;
  const std::size_t* first_starts;
  const std::uint32_t* sequences;
  const Scale* scales;   ///< [groups, kScales], by length
  const float4* values;  ///< [groups, longest, kQuads] of the queries
  std::uint32_t groups;
  std::uint32_t longest;
  std::uint32_t hits_per_sequence;
  double* distances;     ///< of each start of all sequences
  std::uint32_t* found;  ///< the query that has it
  ScalingHit* hits;      ///< [sequences, hits_per_sequence], of distance kNowhere if there is none
};

/// A start and its distance; none yet.
struct Best {
  double distance = kNowhere;
  std::uint32_t which = 0xFFFFFFFFU;

  __device__ bool better_than(const Best& other) const {
    return distance != other.distance ? distance < other.distance : which < other.which;
  }
};

/// What a thread has added up of a stretch, and its products with the queries.
struct Sums {
  float sum = 0;
  float squares = 0;
  float products[kScales] = {};
};

__device__ Best distance_at(const Scale& scale, float product, const Sums& sums) {
  const double n = scale.length;
  const double sum = scale.sum - static_cast<double>(sums.sum);
  const double square =
      scale.squares + static_cast<double>(sums.squares) - 2 * static_cast<double>(product);
  return {(n * square - sum * sum) / (n * n), scale.query};
}

/// The best of a group's scales for one start, if it is better than the best so far.
__device__ void try_scales(const Scale* scales, const float4* values, const float* samples,
                           std::uint32_t length, std::uint32_t start, Best& best) {
  Sums sums;
  std::uint32_t i = 0;
#pragma unroll
  for (int ends = 0; ends < kScales; ++ends) {
    const Scale scale = scales[ends];
#pragma unroll 1
    for (; i < scale.length; ++i) {
      const float sample = samples[min(start + i, length - 1)];
      sums.sum += sample;
      sums.squares = __fmaf_rn(sample, sample, sums.squares);
#pragma unroll
      for (int quad = ends / 4; quad < kQuads; ++quad) {
        const float4 query = __ldg(values + i * kQuads + quad);
        float* const products = sums.products + 4 * quad;
        products[0] = __fmaf_rn(query.x, sample, products[0]);
        products[1] = __fmaf_rn(query.y, sample, products[1]);
        products[2] = __fmaf_rn(query.z, sample, products[2]);
        products[3] = __fmaf_rn(query.w, sample, products[3]);
      }
    }
    const bool fits = scale.length > 0 && length >= scale.inside &&
                      start < length - scale.inside + (scale.inside > 0 ? 1 : 0);
    if (!fits) continue;
    const Best here = distance_at(scale, sums.products[ends], sums);
    if (here.better_than(best)) best = here;
  }
}

__device__ Best best_of_block(Best best, Best* of_warps) {
  for (unsigned step = 16; step > 0; step /= 2) {
    const Best other{__shfl_xor_sync(kFull, best.distance, step),
                     __shfl_xor_sync(kFull, best.which, step)};
    if (other.better_than(best)) best = other;
  }
  __syncthreads();  // what was there before has been read
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = best;
  __syncthreads();
  for (unsigned warp = 0; warp < kWarps; ++warp) {
    if (of_warps[warp].better_than(best)) best = of_warps[warp];
  }
  return best;
}

/// Whether the distance there is less than the one before and not more than the one after.
__device__ bool is_minimum(const double* distances, std::uint32_t s, std::uint32_t count) {
  const double here = distances[s];
  return here < kNowhere && (s == 0 || here < distances[s - 1]) &&
         (s + 1 == count || here <= distances[s + 1]);
}

__global__ void __launch_bounds__(kThreads) scaling_kernel(Arguments a) {
  __shared__ Best of_warps[kWarps];
  const std::uint32_t sequence = a.sequences[blockIdx.x];
  const std::size_t first = a.firsts[sequence];
  const auto length = static_cast<std::uint32_t>(a.firsts[sequence + 1] - first);
  const std::size_t first_start = a.first_starts[sequence];
  const auto count = static_cast<std::uint32_t>(a.first_starts[sequence + 1] - first_start);
  double* const distances = a.distances + first_start;
  std::uint32_t* const found = a.found + first_start;
  for (std::uint32_t s = threadIdx.x; s < count; s += kThreads) {
    Best best;
    for (std::uint32_t group = 0; group < a.groups; ++group) {
      try_scales(a.scales + group * kScales, a.values + std::size_t{group} * a.longest * kQuads,
                 a.samples + first, length, a.starts[first_start + s], best);
    }
    distances[s] = best.distance;
    found[s] = best.which;
  }
  __syncthreads();
  ScalingHit* const hits = a.hits + std::size_t{blockIdx.x} * a.hits_per_sequence;
  Best before{-1, 0};  // the last that was taken
  for (std::uint32_t hit = 0; hit < a.hits_per_sequence; ++hit) {
    Best best;
    for (std::uint32_t s = threadIdx.x; s < count; s += kThreads) {
      const Best here{distances[s], s};
      if (before.better_than(here) && here.better_than(best) && is_minimum(distances, s, count)) {
        best = here;
      }
    }
    best = best_of_block(best, of_warps);
    before = best;
    if (threadIdx.x != 0) continue;
    const bool none = best.distance == kNowhere;
    hits[hit] = {best.distance, sequence, none ? 0 : a.starts[first_start + best.which],
                 none ? 0 : found[best.which]};
  }
}

/// The queries as the kernel reads them.
struct Queries {
  std::vector<Scale> scales;
  std::vector<float> values;
  std::size_t longest = 0;
};

Queries sorted(std::span<const std::vector<float>> queries, const ScalingParams& params) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t q = 0; q < queries.size(); ++q) {
    if (!queries[q].empty()) order.push_back(q);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return queries[a].size() < queries[b].size();
  });
  Queries out;
  out.longest = order.empty() ? 0 : queries[order.back()].size();
  const std::size_t groups = (order.size() + kScales - 1) / kScales;
  out.scales.resize(groups * kScales);
  out.values.resize(groups * out.longest * kScales);
  const std::size_t none = out.scales.size() - order.size();  // the first of the first group
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::vector<float>& query = queries[order[k]];
    const std::size_t at = none + k;
    Scale& scale = out.scales[at];
    scale.length = static_cast<std::uint32_t>(query.size());
    scale.inside = static_cast<std::uint32_t>(params.inside(query.size()));
    scale.query = order[k];
    for (std::size_t i = 0; i < query.size(); ++i) {
      scale.sum += query[i];
      scale.squares += double{query[i]} * query[i];
      out.values[(at / kScales * out.longest + i) * kScales + at % kScales] = query[i];
    }
  }
  return out;
}

}  // namespace

std::vector<ScalingHit> linear_scaling(Device& device, const ResidentSequences& references,
                                       std::span<const std::vector<float>> queries,
                                       std::span<const std::uint32_t> sequences,
                                       const ScalingParams& params) {
  const auto& context = device.shared_context();
  context->make_current();
  const Queries asked = sorted(queries, params);
  if (asked.scales.empty() || sequences.empty() || params.hits_per_sequence == 0) return {};
  const Array<std::uint32_t> numbers(context, sequences);
  const Array<Scale> scales(context, asked.scales);
  const Array<float> values(context, asked.values);
  const std::size_t starts = references.starts.values().size();
  const Array<double> distances(context, starts);
  const Array<std::uint32_t> found(context, starts);
  const Array<ScalingHit> hits(context, sequences.size() * params.hits_per_sequence);
  const Arguments arguments{
      .samples = references.samples.on_device(),
      .firsts = references.firsts.on_device(),
      .starts = references.starts.on_device(),
      .first_starts = references.first_starts.on_device(),
      .sequences = numbers.data(),
      .scales = scales.data(),
      .values = reinterpret_cast<const float4*>(values.data()),
      .groups = static_cast<std::uint32_t>(asked.scales.size() / kScales),
      .longest = static_cast<std::uint32_t>(asked.longest),
      .hits_per_sequence = static_cast<std::uint32_t>(params.hits_per_sequence),
      .distances = distances.data(),
      .found = found.data(),
      .hits = hits.data()};
  launch(*context, scaling_kernel, dim3(static_cast<unsigned>(sequences.size())), dim3(kThreads), 0,
         arguments);
  std::vector<ScalingHit> out = hits.download();
  std::erase_if(out, [](const ScalingHit& hit) { return hit.distance == kNowhere; });
  return out;
}

}  // namespace spintag::kernels::cuda
