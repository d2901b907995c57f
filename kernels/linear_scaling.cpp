// kernels/linear_scaling.cpp - the sequences, and the definition.
#include "kernels/linear_scaling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "kernels/scaling_starts.h"

namespace spintag::kernels {
namespace scaling {

std::size_t room_for(std::size_t query, std::size_t length, const ScalingParams& params) {
  const std::size_t inside = params.inside(query);
  if (query == 0 || length < inside) return 0;
  return std::min(length, length - inside + (inside > 0 ? 1 : 0));
}

std::vector<ScalingHit> best_hits(const Starts& starts, std::span<const std::uint32_t> positions,
                                  std::uint32_t sequence, std::size_t count) {
  std::vector<ScalingHit> hits;
  const auto& d = starts.distances;
  for (std::size_t s = 0; s < d.size(); ++s) {
    const bool falls = s == 0 || d[s] < d[s - 1];
    const bool rises = s + 1 == d.size() || d[s] <= d[s + 1];
    if (falls && rises && d[s] < kNowhere) {
      hits.push_back({d[s], sequence, positions[s], starts.scales[s]});
    }
  }
  const auto better = [](const ScalingHit& a, const ScalingHit& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.start < b.start;
  };
  const std::size_t kept = std::min(count, hits.size());
  std::partial_sort(hits.begin(), hits.begin() + kept, hits.end(), better);
  hits.resize(kept);
  return hits;
}

std::size_t longest_of(std::span<const std::vector<float>> queries) {
  std::size_t longest = 0;
  for (const auto& query : queries) longest = std::max(longest, query.size());
  if (longest > kLongestScaledQuery) {
    throw std::invalid_argument("a query of linear scaling has " + std::to_string(longest) +
                                " samples, more than " + std::to_string(kLongestScaledQuery));
  }
  return longest;
}

void Starts::reset(std::size_t count) {
  distances.assign(count, kNowhere);
  scales.assign(count, 0);
}

std::vector<ScalingHit> joined(const std::vector<std::vector<ScalingHit>>& lists) {
  std::vector<ScalingHit> hits;
  for (const auto& list : lists) hits.insert(hits.end(), list.begin(), list.end());
  return hits;
}

}  // namespace scaling

namespace {

double serial_distance(std::span<const float> query, std::span<const float> reference,
                       std::size_t start) {
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (std::size_t i = 0; i < query.size(); ++i) {
    const auto difference =
        static_cast<std::int64_t>(query[i] - reference[std::min(start + i, reference.size() - 1)]);
    sum += difference;
    squares += difference * difference;
  }
  const auto n = static_cast<std::int64_t>(query.size());
  return static_cast<double>(n * squares - sum * sum) / static_cast<double>(n * n);
}

}  // namespace

void ScalingSequences::add(std::span<const float> samples) {
  std::vector<std::uint32_t> starts(samples.size());
  std::iota(starts.begin(), starts.end(), 0U);
  add(samples, starts);
}

void ScalingSequences::add(std::span<const float> samples, std::span<const std::uint32_t> starts) {
  if (samples.empty()) throw std::invalid_argument("a sequence for linear scaling is empty");
  const auto not_after = [](std::uint32_t a, std::uint32_t b) { return a >= b; };
  if (std::adjacent_find(starts.begin(), starts.end(), not_after) != starts.end() ||
      (!starts.empty() && starts.back() >= samples.size())) {
    throw std::invalid_argument("starts for linear scaling do not ascend or lie outside");
  }
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  firsts_.push_back(samples_.size());
  starts_.insert(starts_.end(), starts.begin(), starts.end());
  first_starts_.push_back(starts_.size());
}

std::vector<ScalingHit> serial_linear_scaling(const ScalingSequences& references,
                                              std::span<const std::vector<float>> queries,
                                              std::span<const std::uint32_t> sequences,
                                              const ScalingParams& params) {
  scaling::longest_of(queries);
  std::vector<std::vector<ScalingHit>> hits;
  for (const std::uint32_t sequence : sequences) {
    const std::span<const float> reference = references[sequence];
    const std::span<const std::uint32_t> positions = references.starts(sequence);
    scaling::Starts starts;
    starts.reset(positions.size());
    for (std::size_t scale = 0; scale < queries.size(); ++scale) {
      const std::size_t room = scaling::room_for(queries[scale].size(), reference.size(), params);
      for (std::size_t s = 0; s < positions.size() && positions[s] < room; ++s) {
        const double distance = serial_distance(queries[scale], reference, positions[s]);
        if (!(distance < starts.distances[s])) continue;
        starts.distances[s] = distance;
        starts.scales[s] = static_cast<std::uint32_t>(scale);
      }
    }
    hits.push_back(scaling::best_hits(starts, positions, sequence, params.hits_per_sequence));
  }
  return scaling::joined(hits);
}

std::vector<float> median_levels(Device& device, const ResidentSequences& references,
                                 std::span<const std::vector<float>> queries,
                                 std::span<const ScalingHit> hits) {
  scaling::longest_of(queries);
  if (device.is_cuda()) return cuda::median_levels(device, references, queries, hits);
  std::vector<float> levels;
  levels.reserve(hits.size());
  std::vector<float> above;
  for (const ScalingHit& hit : hits) {
    const std::vector<float>& query = queries[hit.scale];
    const std::span<const float> sequence = (*references.sequences)[hit.sequence];
    above.resize(query.size());
    for (std::size_t i = 0; i < query.size(); ++i) {
      above[i] = query[i] - sequence[std::min(hit.start + i, sequence.size() - 1)];
    }
    const auto middle = above.begin() + static_cast<std::ptrdiff_t>(above.size() / 2);
    std::nth_element(above.begin(), middle, above.end());
    levels.push_back(*middle);
  }
  return levels;
}

}  // namespace spintag::kernels
