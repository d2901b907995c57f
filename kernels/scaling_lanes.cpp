// kernels/scaling_lanes.cpp - linear scaling with queries as lanes.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/linear_scaling.h"
#include "kernels/multiversion.h"
#include "kernels/scaling_starts.h"

namespace spintag::kernels {
namespace {

constexpr std::size_t kLanes = 16;  ///< queries that are compared together
using Ints [[gnu::vector_size(64), gnu::may_alias]] = std::int32_t;

using Doubles [[gnu::vector_size(64), gnu::may_alias]] = double;
using Longs [[gnu::vector_size(64), gnu::may_alias]] = std::int64_t;

struct alignas(64) Row {
  std::array<std::int32_t, kLanes> lane;
};

/// Up to kLanes queries; a lane without one is an empty query.
struct QueryGroup {
  std::uint32_t first = 0;  ///< number of the query in lane 0
  std::uint32_t longest = 0;
  Row lengths = {};
  Row squares = {};       ///< sums of all squares
  std::vector<Row> sums;  ///< [longest + 1] of the samples from there on
};

std::vector<QueryGroup> grouped(std::span<const std::vector<float>> queries) {
  std::vector<QueryGroup> groups;
  for (std::size_t first = 0; first < queries.size(); first += kLanes) {
    const auto members = queries.subspan(first, std::min(kLanes, queries.size() - first));
    QueryGroup group;
    group.first = static_cast<std::uint32_t>(first);
    for (const auto& query : members) {
      group.longest = std::max(group.longest, static_cast<std::uint32_t>(query.size()));
    }
    group.sums.resize(group.longest + 1);
    for (std::size_t lane = 0; lane < members.size(); ++lane) {
      const auto& query = members[lane];
      group.lengths.lane[lane] = static_cast<std::int32_t>(query.size());
      for (std::size_t i = query.size(); i-- > 0;) {
        const auto sample = static_cast<std::int32_t>(query[i]);
        group.sums[i].lane[lane] = group.sums[i + 1].lane[lane] + sample;
        group.squares.lane[lane] += sample * sample;
      }
    }
    if (group.longest > 0) groups.push_back(std::move(group));
  }
  return groups;
}

Row rooms_for(const QueryGroup& group, std::size_t length, const ScalingParams& params) {
  Row rooms;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const auto query = static_cast<std::size_t>(group.lengths.lane[lane]);
    rooms.lane[lane] = static_cast<std::int32_t>(scaling::room_for(query, length, params));
  }
  return rooms;
}

/// Where a sequence has another sample than before, and by how much it is larger.
struct Jump {
  std::uint32_t at;
  std::int32_t by;
};

/// Sums of the samples before one, and of their squares; what leaves 32 bits is dropped, and of no
/// consequence to the differences that are taken.
struct Sums {
  std::uint32_t of_samples = 0;
  std::uint32_t of_squares = 0;
};

/// One sequence, with room for the longest query beyond its last start.
struct Reference {
  std::vector<Sums> sums;   ///< [length + 1]
  std::vector<Jump> jumps;  ///< and one beyond every end
};

/// What one thread works with.
struct Scratch {
  Reference reference;
  scaling::Starts starts;
};

void load(std::span<const float> samples, std::size_t longest, Reference& reference) {
  const std::size_t length = samples.size() + longest;
  reference.sums.resize(length + 1);
  reference.jumps.clear();
  Sums sums;
  auto before = static_cast<std::int32_t>(samples.front());
  for (std::size_t i = 0; i < length; ++i) {
    const auto sample = static_cast<std::int32_t>(samples[std::min(i, samples.size() - 1)]);
    if (sample != before) {
      reference.jumps.push_back({static_cast<std::uint32_t>(i), sample - before});
      before = sample;
    }
    sums.of_samples += static_cast<std::uint32_t>(sample);
    sums.of_squares += static_cast<std::uint32_t>(sample * sample);
    reference.sums[i + 1] = sums;
  }
  reference.jumps.push_back({std::numeric_limits<std::uint32_t>::max(), 0});
}

/// Distances at one start of all queries of a group, in integers that doubles hold exactly.
/// Summation by parts: with Q(i) the sum of the query from sample i on,
///
///     sum of q r = Q(0) r(0) + sum over j of Q(j) (r(j) - r(j - 1))
///
/// so that a melody costs a step for each of its notes and not for each of its samples.
/// @param level  the sequence's sample at the start
/// @param jumps  the first one after the start
/// @param rooms  see room_for()
[[gnu::always_inline]] inline void distances_at(const QueryGroup& group, const Sums* reference,
                                                std::uint32_t start, std::int32_t level,
                                                const Jump* jumps, const Row& rooms,
                                                double* __restrict distances) {
  const auto* sums = reinterpret_cast<const Ints*>(group.sums.data()->lane.data()) - start;
  const std::uint32_t end = start + group.longest;
  Ints products = sums[start] * level;
  for (; jumps->at < end; ++jumps) products += sums[jumps->at] * jumps->by;
  Row product;
  *reinterpret_cast<Ints*>(product.lane.data()) = products;
  alignas(64) Sums ends[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    ends[lane] = reference[start + static_cast<std::uint32_t>(group.lengths.lane[lane])];
  }
  const Sums begin = reference[start];
  const auto& query_sums = group.sums[0].lane;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const auto sum = static_cast<std::int32_t>(ends[lane].of_samples - begin.of_samples);
    const auto squares = static_cast<std::int32_t>(ends[lane].of_squares - begin.of_squares);
    const double n = group.lengths.lane[lane];
    const double apart = query_sums[lane] - sum;
    const double square = group.squares.lane[lane] + squares - 2 * product.lane[lane];
    const double distance = (n * square - apart * apart) / (n * n);
    distances[lane] =
        static_cast<std::int32_t>(start) < rooms.lane[lane] ? distance : scaling::kNowhere;
  }
}

/// The first lane that has the least.
[[gnu::always_inline]] inline std::uint32_t least_lane(const double* distances) {
  const auto* halves = reinterpret_cast<const Doubles*>(distances);
  const Longs numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  const Longs by_four = {4, 5, 6, 7, 0, 1, 2, 3};
  const Longs by_two = {2, 3, 0, 1, 6, 7, 4, 5};
  const Longs by_one = {1, 0, 3, 2, 5, 4, 7, 6};
  const auto take_lower = [](auto& a, const auto& b) { a = b < a ? b : a; };
  Doubles least = halves[0];
  take_lower(least, halves[1]);
  take_lower(least, __builtin_shuffle(least, by_four));
  take_lower(least, __builtin_shuffle(least, by_two));
  take_lower(least, __builtin_shuffle(least, by_one));
  Longs first = halves[1] == least ? numbers + 8 : numbers + 16;
  first = halves[0] == least ? numbers : first;
  take_lower(first, __builtin_shuffle(first, by_four));
  take_lower(first, __builtin_shuffle(first, by_two));
  take_lower(first, __builtin_shuffle(first, by_one));
  return static_cast<std::uint32_t>(first[0]);
}

SPINTAG_CLONES void compare(const QueryGroup& group, std::span<const float> samples,
                            const Reference& reference, const Row& rooms,
                            std::span<const std::uint32_t> positions, double* __restrict least,
                            std::uint32_t* __restrict scales) {
  alignas(64) double distances[kLanes];
  const Jump* jumps = reference.jumps.data();
  for (std::size_t s = 0; s < positions.size(); ++s) {
    const std::uint32_t start = positions[s];
    while (jumps->at <= start) ++jumps;
    distances_at(group, reference.sums.data(), start, static_cast<std::int32_t>(samples[start]),
                 jumps, rooms, distances);
    const std::uint32_t lane = least_lane(distances);
    if (!(distances[lane] < least[s])) continue;
    least[s] = distances[lane];
    scales[s] = group.first + lane;
  }
}

}  // namespace

std::vector<ScalingHit> linear_scaling(Device& device, const ResidentSequences& resident,
                                       std::span<const std::vector<float>> queries,
                                       std::span<const std::uint32_t> sequences,
                                       const ScalingParams& params) {
  const std::size_t longest = scaling::longest_of(queries);
  if (device.is_cuda()) return cuda::linear_scaling(device, resident, queries, sequences, params);
  const ScalingSequences& references = *resident.sequences;
  const std::vector<QueryGroup> groups = grouped(queries);
  std::vector<std::vector<ScalingHit>> hits(sequences.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    Scratch scratch;
    for (std::size_t i; (i = next++) < sequences.size();) {
      const std::span<const float> samples = references[sequences[i]];
      const std::span<const std::uint32_t> positions = references.starts(sequences[i]);
      load(samples, longest, scratch.reference);
      scratch.starts.reset(positions.size());
      for (const QueryGroup& group : groups) {
        const Row rooms = rooms_for(group, samples.size(), params);
        compare(group, samples, scratch.reference, rooms, positions,
                scratch.starts.distances.data(), scratch.starts.scales.data());
      }
      hits[i] =
          scaling::best_hits(scratch.starts, positions, sequences[i], params.hits_per_sequence);
    }
  };
  const std::size_t cores =
      params.threads != 0 ? params.threads : std::thread::hardware_concurrency();
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(cores, sequences.size()); ++i) others.emplace_back(work);
  work();
  others.clear();
  return scaling::joined(hits);
}

}  // namespace spintag::kernels
