// kernels/cuda/median_levels.cu - the median of what a query is above a sequence: a warp a hit.
#include <cstddef>
#include <vector>

#include "kernels/cuda/context.cuh"
#include "kernels/linear_scaling.h"

namespace spintag::kernels::cuda {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kFull = 0xFFFFFFFFU;
constexpr int kEach = (kLongestScaledQuery + 31) / 32;  ///< samples of a lane
constexpr int kFarthest = 2 * kLargestScaledSample;     ///< that a query can be above or below

struct Arguments {
  const float* samples;
  const std::size_t* firsts;
  const float* values;                ///< of all queries
  const std::uint32_t* first_values;  ///< [queries + 1]
  const ScalingHit* hits;
  std::uint32_t count;
  float* levels;
};

/// Halves the range of integers in which the median lies, counting how many are not above the
/// middle.
__global__ void __launch_bounds__(kThreads) median_kernel(Arguments a) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t which = (blockIdx.x * kThreads + threadIdx.x) / 32;
  if (which >= a.count) return;
  const ScalingHit hit = a.hits[which];
  const float* const sequence = a.samples + a.firsts[hit.sequence];
  const auto last =
      static_cast<std::uint32_t>(a.firsts[hit.sequence + 1] - a.firsts[hit.sequence]) - 1;
  const float* const query = a.values + a.first_values[hit.scale];
  const std::uint32_t length = a.first_values[hit.scale + 1] - a.first_values[hit.scale];
  int above[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const std::uint32_t i = 32 * k + lane;
    above[k] = i < length ? static_cast<int>(query[i] - sequence[min(hit.start + i, last)])
                          : kFarthest + 1;
  }
  int lowest = -kFarthest;
  int highest = kFarthest;
  while (lowest < highest) {
    const int middle = lowest + (highest - lowest) / 2;
    unsigned not_above = 0;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      not_above += static_cast<unsigned>(__popc(__ballot_sync(kFull, above[k] <= middle)));
    }
    if (not_above > length / 2) {
      highest = middle;
    } else {
      lowest = middle + 1;
    }
  }
  if (lane == 0) a.levels[which] = static_cast<float>(lowest);
}

}  // namespace

std::vector<float> median_levels(Device& device, const ResidentSequences& references,
                                 std::span<const std::vector<float>> queries,
                                 std::span<const ScalingHit> hits) {
  if (hits.empty()) return {};
  const auto& context = device.shared_context();
  context->make_current();
  std::vector<float> values;
  std::vector<std::uint32_t> first_values = {0};
  for (const auto& query : queries) {
    values.insert(values.end(), query.begin(), query.end());
    first_values.push_back(static_cast<std::uint32_t>(values.size()));
  }
  const Array<float> query_values(context, values);
  const Array<std::uint32_t> query_firsts(context, first_values);
  const Array<ScalingHit> found(context, hits);
  const Array<float> levels(context, hits.size());
  constexpr std::size_t kHits = kThreads / 32;  // of a block
  launch(*context, median_kernel, dim3(static_cast<unsigned>((hits.size() + kHits - 1) / kHits)),
         dim3(kThreads), 0,
         Arguments{.samples = references.samples.on_device(),
                   .firsts = references.firsts.on_device(),
                   .values = query_values.data(),
                   .first_values = query_firsts.data(),
                   .hits = found.data(),
                   .count = static_cast<std::uint32_t>(hits.size()),
                   .levels = levels.data()});
  return levels.download();
}

}  // namespace spintag::kernels::cuda
