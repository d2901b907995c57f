// kernels/linear_scaling.cpp - the definition, and the same with starts as lanes.
#include "kernels/linear_scaling.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "kernels/multiversion.h"

namespace spintag::kernels {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

/// Least distance of every start of one sequence, and the query that has it; the latter in 64 bits
/// too, so that both are as many to a vector.
struct Starts {
  std::vector<double> distances;
  std::vector<std::int64_t> scales;
};

/// Starts at which a query of this length may lie.
std::size_t start_count(std::size_t length, std::size_t query, const ScalingParams& params) {
  const auto inside =
      static_cast<std::size_t>(std::ceil(static_cast<double>(query) * (1 - params.overhang)));
  return query == 0 || length < inside ? 0 : length - inside + (inside > 0 ? 1 : 0);
}

std::vector<ScalingHit> best_hits(const Starts& starts, std::uint32_t sequence, std::size_t count) {
  std::vector<ScalingHit> hits;
  const auto& d = starts.distances;
  for (std::size_t s = 0; s < d.size(); ++s) {
    const bool falls = s == 0 || d[s] < d[s - 1];
    const bool rises = s + 1 == d.size() || d[s] <= d[s + 1];
    if (falls && rises && d[s] < kNowhere) {
      hits.push_back({d[s], sequence, static_cast<std::uint32_t>(s),
                      static_cast<std::uint32_t>(starts.scales[s])});
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

constexpr std::size_t kBlock = 64;  ///< starts that are looked at together
using Floats [[gnu::vector_size(64), gnu::may_alias]] = float;
using UnalignedFloats [[gnu::vector_size(64), gnu::may_alias, gnu::aligned(4)]] = float;

/// products[s] = sum over i of query[i] reference[s + i], for kBlock starts.
SPINTAG_CLONES void correlate(const float* __restrict query, std::size_t length,
                              const float* __restrict reference, float* __restrict products) {
  Floats a{};
  Floats b{};
  Floats c{};
  Floats d{};
  for (std::size_t i = 0; i < length; ++i) {
    const auto* at = reinterpret_cast<const UnalignedFloats*>(reference + i);
    a += at[0] * query[i];
    b += at[1] * query[i];
    c += at[2] * query[i];
    d += at[3] * query[i];
  }
  auto* out = reinterpret_cast<UnalignedFloats*>(products);
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}

/// What a query is in the sums below.
struct QuerySums {
  double length = 0;
  double sum = 0;
  double squares = 0;
};

/// Distances from the products, in integers that doubles hold exactly, and the least of them kept.
/// @param sums, squares          of the samples before each start
/// @param end_sums, end_squares  of those before the end of a query that begins there
SPINTAG_CLONES void take_distances(const float* __restrict products, const double* __restrict sums,
                                   const double* __restrict squares,
                                   const double* __restrict end_sums,
                                   const double* __restrict end_squares, const QuerySums& query,
                                   std::int64_t scale, std::size_t count, double* __restrict least,
                                   std::int64_t* __restrict scales) {
  const double n = query.length;
  const double query_sum = query.sum;
  const double query_squares = query.squares;
  for (std::size_t s = 0; s < count; ++s) {
    const double sum = query_sum - (end_sums[s] - sums[s]);
    const double square =
        query_squares + (end_squares[s] - squares[s]) - 2 * static_cast<double>(products[s]);
    const double distance = (n * square - sum * sum) / (n * n);
    const bool closer = distance < least[s];
    least[s] = closer ? distance : least[s];
    scales[s] = closer ? scale : scales[s];
  }
}

/// What one thread works with.
struct Scratch {
  Starts starts;
  std::vector<float> reference;  ///< the sequence and room for a whole block beyond its last start
  std::vector<double> sums;      ///< of the samples before
  std::vector<double> squares;
};

void load(const ScalingSequences& references, std::uint32_t sequence, std::size_t longest,
          Scratch& scratch) {
  const std::span<const float> samples = references[sequence];
  scratch.reference.assign(samples.begin(), samples.end());
  scratch.reference.resize(samples.size() + longest + kBlock, samples.back());
  scratch.sums.resize(scratch.reference.size() + 1);
  scratch.squares.resize(scratch.reference.size() + 1);
  double sum = 0;
  double square = 0;
  for (std::size_t i = 0; i < scratch.reference.size(); ++i) {
    scratch.sums[i] = sum;
    scratch.squares[i] = square;
    sum += scratch.reference[i];
    square += double{scratch.reference[i]} * scratch.reference[i];
  }
  scratch.sums.back() = sum;
  scratch.squares.back() = square;
}

void compare(std::span<const float> query, std::size_t scale, std::size_t starts,
             Scratch& scratch) {
  QuerySums query_sums;
  query_sums.length = static_cast<double>(query.size());
  for (const float value : query) {
    query_sums.sum += value;
    query_sums.squares += double{value} * value;
  }
  alignas(64) float products[kBlock];
  for (std::size_t first = 0; first < starts; first += kBlock) {
    correlate(query.data(), query.size(), scratch.reference.data() + first, products);
    const double* sums = scratch.sums.data() + first;
    const double* squares = scratch.squares.data() + first;
    take_distances(products, sums, squares, sums + query.size(), squares + query.size(), query_sums,
                   static_cast<std::int64_t>(scale), std::min(kBlock, starts - first),
                   scratch.starts.distances.data() + first, scratch.starts.scales.data() + first);
  }
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

void reset(Starts& starts, std::size_t length) {
  starts.distances.assign(length, kNowhere);
  starts.scales.assign(length, 0);
}

std::vector<ScalingHit> joined(const std::vector<std::vector<ScalingHit>>& lists) {
  std::vector<ScalingHit> hits;
  for (const auto& list : lists) hits.insert(hits.end(), list.begin(), list.end());
  return hits;
}

}  // namespace

void ScalingSequences::add(std::span<const float> samples) {
  if (samples.empty()) throw std::invalid_argument("a sequence for linear scaling is empty");
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  firsts_.push_back(samples_.size());
}

std::vector<ScalingHit> serial_linear_scaling(const ScalingSequences& references,
                                              std::span<const std::vector<float>> queries,
                                              std::span<const std::uint32_t> sequences,
                                              const ScalingParams& params) {
  longest_of(queries);
  std::vector<std::vector<ScalingHit>> hits;
  for (const std::uint32_t sequence : sequences) {
    const std::size_t length = references[sequence].size();
    Starts starts;
    reset(starts, length);
    for (std::size_t scale = 0; scale < queries.size(); ++scale) {
      const std::size_t count =
          std::min(length, start_count(length, queries[scale].size(), params));
      for (std::size_t s = 0; s < count; ++s) {
        const double distance = serial_distance(queries[scale], references[sequence], s);
        if (!(distance < starts.distances[s])) continue;
        starts.distances[s] = distance;
        starts.scales[s] = static_cast<std::int64_t>(scale);
      }
    }
    hits.push_back(best_hits(starts, sequence, params.hits_per_sequence));
  }
  return joined(hits);
}

std::vector<ScalingHit> linear_scaling(Device&, const ScalingSequences& references,
                                       std::span<const std::vector<float>> queries,
                                       std::span<const std::uint32_t> sequences,
                                       const ScalingParams& params) {
  const std::size_t longest = longest_of(queries);
  std::vector<std::vector<ScalingHit>> hits(sequences.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    Scratch scratch;
    for (std::size_t i; (i = next++) < sequences.size();) {
      const std::size_t length = references[sequences[i]].size();
      load(references, sequences[i], longest, scratch);
      reset(scratch.starts, length);
      for (std::size_t scale = 0; scale < queries.size(); ++scale) {
        const std::size_t count = start_count(length, queries[scale].size(), params);
        compare(queries[scale], scale, std::min(length, count), scratch);
      }
      hits[i] = best_hits(scratch.starts, sequences[i], params.hits_per_sequence);
    }
  };
  const std::size_t cores =
      params.threads != 0 ? params.threads : std::thread::hardware_concurrency();
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(cores, sequences.size()); ++i) others.emplace_back(work);
  work();
  others.clear();
  return joined(hits);
}

}  // namespace spintag::kernels
