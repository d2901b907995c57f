// fingerprint/cuda/vote_gather.cuh - looks the probes of a window up, a warp at a time.
#pragma once

#include <cstdint>

#include "fingerprint/cuda/vote_kernels.cuh"

namespace spintag::fingerprint::cuda {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;
inline constexpr std::uint32_t kWarp = 32;

/// The words that a probe looks through: those in [low, low + span).
struct Lookup {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t low;
  std::uint32_t span;
  std::uint32_t anchor_step;

  __device__ Lookup of_lane(int lane) const {
    return {__shfl_sync(kAllLanes, begin, lane), __shfl_sync(kAllLanes, end, lane),
            __shfl_sync(kAllLanes, low, lane), __shfl_sync(kAllLanes, span, lane),
            __shfl_sync(kAllLanes, anchor_step, lane)};
  }
  __device__ bool holds(std::uint32_t word) const { return word - low < span; }
};

inline constexpr std::uint32_t kVotesAtOnce = 4;  ///< of a lane

/// What a lane has found, some or all of it votes.
struct LaneVotes {
  bool valid[kVotesAtOnce];
  std::uint32_t counter[kVotesAtOnce];
};

/// Reads every posting that a chunk of a window's probes meets. All lanes of a warp call
/// on_votes(LaneVotes) together.
template <class OnVotes>
class VoteGather {
 public:
  __device__ VoteGather(const ShardView& shard, OnVotes& on_votes)
      : shard_(shard), on_votes_(on_votes), lane_(threadIdx.x % kWarp) {}

  __device__ void read(const ProbeChunks& chunks, std::uint32_t window, std::uint32_t chunk) {
    const std::uint32_t begin = chunks.begin[window] + chunk * chunks.size;
    const std::uint32_t end = min(chunks.begin[window + 1], begin + chunks.size);
    for (std::uint32_t base = begin + threadIdx.x - lane_; base < end; base += blockDim.x) {
      Lookup first{};
      Lookup second{};
      if (base + lane_ < end) find_lookups(chunks.probes[base + lane_], first, second);
      read_lookups(first);
      if (__any_sync(kAllLanes, second.begin != second.end)) read_lookups(second);
    }
  }

 private:
  static constexpr std::uint32_t kLanes = 8;                       ///< to a short bucket
  static constexpr std::uint32_t kShort = kLanes * kVotesAtOnce;   ///< words; 15 are usual
  static constexpr std::uint32_t kBucketsAtOnce = kWarp / kLanes;  ///< short ones

  __device__ std::uint32_t bucket_of(std::uint32_t key) const {
    return static_cast<std::uint32_t>(__umul64hi(shard_.reciprocal, key));
  }

  /// The lookup of hashes [hash, hash + count) where they share a bucket; the last key of a bucket
  /// may have its neighbour in the next one, which is then a lookup of its own.
  __device__ void find_lookups(const Probe& probe, Lookup& first, Lookup& second) const {
    const std::uint32_t key = IndexShard::key_of(probe.hash);
    const std::uint32_t bucket = bucket_of(key);
    const bool pair = probe.count > 1;
    // hash and hash + 1 differ in the time difference alone: their keys are neighbours too.
    const bool spills = pair && bucket_of(key + 1) != bucket;
    first.begin = shard_.directory[bucket];
    first.end = shard_.directory[bucket + 1];
    first.low = (key - bucket * shard_.keys_per_bucket) * shard_.units;
    first.span = pair && !spills ? 2 * shard_.units : shard_.units;
    first.anchor_step = probe.anchor_step;
    second = {first.end, spills ? shard_.directory[bucket + 2] : first.end, 0, shard_.units,
              probe.anchor_step};
    leave_out_if_long(first);
    leave_out_if_long(second);
  }

  __device__ void leave_out_if_long(Lookup& lookup) const {
    if (lookup.end - lookup.begin > shard_.longest_bucket) lookup.end = lookup.begin;
  }

  /// Those of 32 lanes: eight lanes each to the short buckets, the whole warp to each long one.
  __device__ void read_lookups(const Lookup& own) {
    const bool is_long = own.end - own.begin > kShort;
    const unsigned short_ones = __ballot_sync(kAllLanes, !is_long && own.end > own.begin);
    for (std::uint32_t first = 0; first < kWarp; first += kBucketsAtOnce) {
      if ((short_ones >> first & ((1U << kBucketsAtOnce) - 1)) == 0) continue;
      const std::uint32_t owner = first + lane_ / kLanes;
      Lookup at = own.of_lane(static_cast<int>(owner));
      if ((short_ones >> owner & 1U) == 0) at.end = at.begin;
      read_words(at, at.begin + lane_ % kLanes, kLanes);
    }
    for (unsigned rest = __ballot_sync(kAllLanes, is_long); rest != 0; rest &= rest - 1) {
      const Lookup at = own.of_lane(__ffs(static_cast<int>(rest)) - 1);
      std::uint32_t place = lower_bound(at) + lane_;
      while (read_words(at, place, kWarp)) place += kVotesAtOnce * kWarp;
    }
  }

  /// This lane's next words, `stride` apart. @return whether all lanes' last word was in the lookup
  __device__ bool read_words(const Lookup& at, std::uint32_t place, std::uint32_t stride) {
    std::uint32_t words[kVotesAtOnce];
#pragma unroll
    for (std::uint32_t i = 0; i < kVotesAtOnce; ++i) {
      words[i] = place + i * stride < at.end ? shard_.words[place + i * stride] : at.low - 1;
    }
    LaneVotes votes;
#pragma unroll
    for (std::uint32_t i = 0; i < kVotesAtOnce; ++i) {
      std::uint32_t unit = words[i] - at.low;
      if (unit >= shard_.units) unit -= shard_.units;  // of the second hash
      votes.valid[i] = at.holds(words[i]);
      votes.counter[i] = VoteClock::counter(unit, at.anchor_step);
    }
    on_votes_(votes);
    return __all_sync(kAllLanes, at.holds(words[kVotesAtOnce - 1])) != 0;
  }

  /// First word that is not below at.low, by 32 steps at once.
  __device__ std::uint32_t lower_bound(const Lookup& at) const {
    std::uint32_t begin = at.begin;
    std::uint32_t end = at.end;
    while (end - begin > kWarp) {
      const std::uint32_t step = (end - begin + kWarp - 1) / kWarp;
      const std::uint32_t place = begin + lane_ * step;
      const bool below = place < end && shard_.words[place] < at.low;
      const auto steps = static_cast<std::uint32_t>(__popc(__ballot_sync(kAllLanes, below)));
      if (steps == 0) return begin;
      end = min(end, begin + steps * step);
      begin += (steps - 1) * step + 1;
    }
    const bool below = begin + lane_ < end && shard_.words[begin + lane_] < at.low;
    return begin + static_cast<std::uint32_t>(__popc(__ballot_sync(kAllLanes, below)));
  }

  const ShardView& shard_;
  OnVotes& on_votes_;
  std::uint32_t lane_;
};

/// A vote's partition, and its place there. The last place of a partition is a place of the next
/// one too.
struct VotePlace {
  std::uint32_t partition;
  std::uint32_t place;

  __device__ VotePlace(const Partitions& partitions, std::uint32_t counter) {
    partition = __umulhi(counter, partitions.reciprocal);
    std::uint32_t rest = counter - partition * partitions.counters;
    if (rest >= partitions.counters) {  // the reciprocal is rounded down
      ++partition;
      rest -= partitions.counters;
    }
    place = rest + 1;
  }
  __device__ bool is_last(const Partitions& partitions) const {
    return place == partitions.counters && partition + 1 < partitions.count;
  }
};

}  // namespace spintag::fingerprint::cuda
