// kernels/warping.cpp - dynamic time warping, serial as it is defined and in lanes as it is fast.
#include "kernels/warping.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "kernels/multiversion.h"

namespace spintag::kernels {
namespace {

std::int16_t element(std::span<const std::int16_t> references, const WarpingCandidate& candidate,
                     std::size_t j) {
  const std::int64_t at =
      candidate.start + static_cast<std::int64_t>((std::uint64_t{candidate.step} * j) >> 16U);
  const std::int64_t last = std::int64_t{candidate.count} - 1;
  const auto within = static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, last));
  return static_cast<std::int16_t>(references[candidate.first + within] + candidate.level);
}

std::uint16_t serial_distance(std::span<const std::int16_t> references,
                              std::span<const std::int16_t> query,
                              const WarpingCandidate& candidate, const WarpingParams& params) {
  const int far = warping_far(params.cap);
  const std::size_t rows = query.size();
  const std::size_t columns = candidate.length;
  if (rows == 0) return kNoPath;
  std::vector<int> table(rows * columns);
  const auto sum = [&](std::size_t i, std::size_t j, std::size_t back_i, std::size_t back_j) {
    return i < back_i || j < back_j ? far : table[(i - back_i) * columns + (j - back_j)];
  };
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const int cost =
          std::min<int>(std::abs(query[i] - element(references, candidate, j)), params.cap);
      const int skip = params.skips_pay ? cost : 0;
      const int before =
          i == 0 ? 0 : std::min({sum(i, j, 2, 1) + skip, sum(i, j, 1, 1), sum(i, j, 1, 2)});
      table[i * columns + j] = std::min(cost + before, far);
    }
  }
  const int least = columns == 0 ? far : *std::min_element(table.end() - columns, table.end());
  return least >= far ? kNoPath : static_cast<std::uint16_t>(least);
}

constexpr std::size_t kLanes = 32;

/// One cell of as many tables as there are lanes: one register of AVX-512, two of AVX2.
struct alignas(64) Cells {
  std::array<std::uint16_t, kLanes> lane;
};
using Lanes [[gnu::vector_size(64), gnu::may_alias]] = std::uint16_t;
using SignedLanes [[gnu::vector_size(64), gnu::may_alias]] = std::int16_t;

/// What one thread works with.
struct Scratch {
  std::vector<Cells> elements;  ///< [length]
  std::vector<Cells> columns;   ///< [2, rows]
  Cells lengths;
  Cells least;
};

/// Column after column, of which only two are kept: column j takes the place of column j - 2, whose
/// cell above is still at hand when it is overwritten.
SPINTAG_CLONES void fill_columns(const std::int16_t* __restrict query, std::size_t rows,
                                 std::size_t columns, std::uint16_t cap, std::uint16_t far,
                                 bool skips_pay, Scratch& scratch) {
  const Lanes caps = Lanes{} + cap;
  const Lanes fars = Lanes{} + far;
  const std::uint16_t every_bit = skips_pay ? 0xFFFF : 0;
  const Lanes pays = Lanes{} + every_bit;
  const auto* elements = reinterpret_cast<const Lanes*>(scratch.elements.data());
  const Lanes lengths = *reinterpret_cast<const Lanes*>(&scratch.lengths);
  auto* previous = reinterpret_cast<Lanes*>(scratch.columns.data());
  auto* current = previous + rows;
  for (std::size_t i = 0; i < rows; ++i) previous[i] = current[i] = fars;
  Lanes least = fars;
  for (std::size_t j = 0; j < columns; ++j) {
    const Lanes column = elements[j];
    Lanes one_two = Lanes{};  // D(i-1,j-2), and the two of column j-1; above row 0 starts are free
    Lanes two_one = fars;
    Lanes one_one = Lanes{};
    for (std::size_t i = 0; i < rows; ++i) {
      const auto apart = (SignedLanes)(column - static_cast<std::uint16_t>(query[i]));
      const auto size = (Lanes)(apart < 0 ? -apart : apart);
      const Lanes cost = size < caps ? size : caps;
      const Lanes skipping = two_one + (cost & pays);
      Lanes best = skipping < one_one ? skipping : one_one;
      best = best < one_two ? best : one_two;
      best = best + cost;
      two_one = i == 0 ? fars : one_one;
      one_one = previous[i];
      one_two = current[i];
      current[i] = best < fars ? best : fars;
    }
    const Lanes last = current[rows - 1];
    const Lanes open = lengths > static_cast<std::uint16_t>(j) ? last : fars;
    least = least < open ? least : open;
    std::swap(previous, current);
  }
  *reinterpret_cast<Lanes*>(&scratch.least) = least;
}

/// The distances of up to kLanes candidates; lanes without one repeat the first.
void lane_distances(std::span<const std::int16_t> references, std::span<const std::int16_t> query,
                    std::span<const WarpingCandidate> candidates, const WarpingParams& params,
                    Scratch& scratch, std::uint16_t* distances) {
  std::size_t columns = 0;
  for (const WarpingCandidate& candidate : candidates) {
    columns = std::max<std::size_t>(columns, candidate.length);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const WarpingCandidate& candidate = candidates[lane < candidates.size() ? lane : 0];
    scratch.lengths.lane[lane] = static_cast<std::uint16_t>(candidate.length);
    for (std::size_t j = 0; j < columns; ++j) {
      scratch.elements[j].lane[lane] =
          static_cast<std::uint16_t>(element(references, candidate, j));
    }
  }
  const std::uint16_t far = warping_far(params.cap);
  fill_columns(query.data(), query.size(), columns, params.cap, far, params.skips_pay, scratch);
  for (std::size_t lane = 0; lane < candidates.size(); ++lane) {
    const std::uint16_t least = scratch.least.lane[lane];
    distances[lane] = least >= far ? kNoPath : least;
  }
}

}  // namespace

namespace {

std::size_t longest_of(std::span<const WarpingCandidate> candidates) {
  std::size_t longest = 0;
  for (const WarpingCandidate& candidate : candidates)
    longest = std::max<std::size_t>(longest, candidate.length);
  if (longest > kLongestWarpedCandidate)
    throw std::invalid_argument("warping: a candidate has " + std::to_string(longest) +
                                " elements (65535 at most)");
  return longest;
}

}  // namespace

std::vector<std::uint16_t> serial_warping_distances(std::span<const std::int16_t> references,
                                                    std::span<const std::int16_t> query,
                                                    std::span<const WarpingCandidate> candidates,
                                                    const WarpingParams& params) {
  longest_of(candidates);
  assert(params.cap <= 8000);
  std::vector<std::uint16_t> distances;
  distances.reserve(candidates.size());
  for (const WarpingCandidate& candidate : candidates) {
    distances.push_back(serial_distance(references, query, candidate, params));
  }
  return distances;
}

std::vector<std::uint16_t> warping_distances(Device& device,
                                             const Resident<std::int16_t>& references,
                                             std::span<const std::int16_t> query,
                                             std::span<const WarpingCandidate> candidates,
                                             const WarpingParams& params) {
  std::vector<std::uint16_t> distances(candidates.size(), kNoPath);
  assert(params.cap <= 8000);
  const std::size_t columns = longest_of(candidates);
  if (query.empty() || candidates.empty()) return distances;
  if (device.is_cuda() && query.size() <= cuda::kMostWarpedRows && params.cap <= cuda::kLargestCap)
    return cuda::warping_distances(device, references, query, candidates, params);
  const std::size_t blocks = (candidates.size() + kLanes - 1) / kLanes;
  const std::size_t cores =
      params.threads != 0 ? params.threads : std::thread::hardware_concurrency();
  std::vector<Scratch> scratches(std::clamp<std::size_t>(cores, 1, blocks));
  for (Scratch& scratch : scratches) {
    scratch.elements.resize(columns);
    scratch.columns.resize(2 * query.size());
  }
  std::atomic<std::size_t> next_block = 0;
  const auto work = [&](Scratch& scratch) {
    for (std::size_t block; (block = next_block++) < blocks;) {
      const std::size_t first = block * kLanes;
      const std::size_t count = std::min(kLanes, candidates.size() - first);
      lane_distances(references.values(), query, candidates.subspan(first, count), params, scratch,
                     distances.data() + first);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < scratches.size(); ++i)
    others.emplace_back(work, std::ref(scratches[i]));
  work(scratches.front());
  others.clear();
  return distances;
}

}  // namespace spintag::kernels
