// fingerprint/cuda/vote_throw.cu - lookups by warps: how many votes go where, and throwing them
// there.
#include "fingerprint/cuda/vote_kernels.cuh"

namespace spintag::fingerprint::cuda {
namespace {

constexpr unsigned kAll = 0xFFFFFFFFU;
constexpr std::uint32_t kWarp = 32;

/// The words that a probe looks through: those in [low, low + span).
struct Lookup {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t low;
  std::uint32_t span;
  std::uint32_t anchor_step;
};

__device__ std::uint32_t bucket_of(const ShardView& shard, std::uint32_t key) {
  return static_cast<std::uint32_t>(__umul64hi(shard.reciprocal, key));
}

/// The lookup of hashes [hash, hash + count) where they share a bucket; the last key of a bucket
/// may have its neighbour in the next one, which is then a lookup of its own.
__device__ void find_lookups(const ShardView& shard, const Probe& probe, Lookup& first,
                             Lookup& second) {
  const std::uint32_t key = IndexShard::key_of(probe.hash);
  const std::uint32_t bucket = bucket_of(shard, key);
  const bool pair = probe.count > 1;
  // hash and hash + 1 differ in the time difference alone: their keys are neighbours too.
  const bool spills = pair && bucket_of(shard, key + 1) != bucket;
  first.begin = shard.directory[bucket];
  first.end = shard.directory[bucket + 1];
  first.low = (key - bucket * shard.keys_per_bucket) * shard.units;
  first.span = pair && !spills ? 2 * shard.units : shard.units;
  first.anchor_step = probe.anchor_step;
  second = {first.end, spills ? shard.directory[bucket + 2] : first.end, 0, shard.units,
            probe.anchor_step};
}

template <class OnVote>
__device__ void vote(const ShardView& shard, const Lookup& at, std::uint32_t word,
                     OnVote& on_vote) {
  std::uint32_t unit = word - at.low;
  if (unit >= at.span) return;
  if (unit >= shard.units) unit -= shard.units;
  on_vote(VoteClock::counter(unit, at.anchor_step));
}

__device__ Lookup of_lane(const Lookup& lookup, int lane) {
  return {__shfl_sync(kAll, lookup.begin, lane), __shfl_sync(kAll, lookup.end, lane),
          __shfl_sync(kAll, lookup.low, lane), __shfl_sync(kAll, lookup.span, lane),
          __shfl_sync(kAll, lookup.anchor_step, lane)};
}

/// First word that is not below `low`, by 32 steps at once.
__device__ std::uint32_t lower_bound(const std::uint32_t* words, std::uint32_t begin,
                                     std::uint32_t end, std::uint32_t low, std::uint32_t lane) {
  while (end - begin > kWarp) {
    const std::uint32_t step = (end - begin + kWarp - 1) / kWarp;
    const std::uint32_t at = begin + lane * step;
    const bool below = at < end && words[at] < low;
    const auto steps = static_cast<std::uint32_t>(__popc(__ballot_sync(kAll, below)));
    if (steps == 0) return begin;
    end = min(end, begin + steps * step);
    begin += (steps - 1) * step + 1;
  }
  const bool below = begin + lane < end && words[begin + lane] < low;
  return begin + static_cast<std::uint32_t>(__popc(__ballot_sync(kAll, below)));
}

/// All of the time line.
struct WholeTimeLine {
  static constexpr bool kWhole = true;
};

/// The units that vote for counters [begin, end) from an anchor step.
struct SliceOfTimeLine {
  std::uint32_t begin_counter;
  std::uint32_t end_counter;

  __device__ std::uint32_t first(const ShardView& shard, std::uint32_t anchor_step) const {
    return first_unit(shard, begin_counter, anchor_step);
  }
  __device__ std::uint32_t end(const ShardView& shard, std::uint32_t anchor_step) const {
    return first_unit(shard, end_counter, anchor_step);
  }
  static constexpr bool kWhole = false;

 private:
  /// The first unit whose vote is not before the counter: VoteClock::counter() turned round.
  __device__ static std::uint32_t first_unit(const ShardView& shard, std::uint32_t counter,
                                             std::uint32_t anchor_step) {
    constexpr std::int64_t kPerUnit = VoteClock::kStepsPerUnit;
    const std::int64_t steps = (std::int64_t{counter} << VoteClock::kCounterShift) + anchor_step -
                               kPerUnit / 2 - std::int64_t{VoteClock::kPadSteps};
    if (steps <= 0) return 0;
    const std::int64_t unit = (steps + kPerUnit - 1) / kPerUnit;
    return unit < shard.units ? static_cast<std::uint32_t>(unit) : shard.units;
  }
};

/// Words [low, low + span) of a bucket that is longer than a warp: found by search, then read.
template <class OnVote>
__device__ void read_run(const ShardView& shard, const Lookup& at, std::uint32_t from,
                         std::uint32_t span, std::uint32_t lane, OnVote& on_vote) {
  std::uint32_t k = lower_bound(shard.words, at.begin, at.end, from, lane) + lane;
  constexpr int kAtOnce = 4;
  for (bool more = true; more; k += kAtOnce * kWarp) {
    std::uint32_t words[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const std::uint32_t place = k + static_cast<std::uint32_t>(i) * kWarp;
      words[i] = place < at.end ? shard.words[place] : from - 1;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (words[i] - from < span) vote(shard, at, words[i], on_vote);
    }
    more = __all_sync(kAll, words[kAtOnce - 1] - from < span) != 0;
  }
}

template <class Stretch, class OnVote>
__device__ void read_long(const ShardView& shard, const Stretch& stretch, const Lookup& at,
                          std::uint32_t lane, OnVote& on_vote) {
  if constexpr (Stretch::kWhole) {
    read_run(shard, at, at.low, at.span, lane, on_vote);
  } else {  // the stretch of each of the one or two hashes
    const std::uint32_t first = stretch.first(shard, at.anchor_step);
    const std::uint32_t length = stretch.end(shard, at.anchor_step) - first;
    if (length == 0) return;
    for (std::uint32_t hash = 0; hash < at.span; hash += shard.units) {
      read_run(shard, at, at.low + hash + first, length, lane, on_vote);
      if (hash + shard.units < hash) return;  // two hashes can take all 32 bits
    }
  }
}

/// 32 lookups of a warp: eight lanes each to the short buckets, the whole warp to each long one.
/// Short buckets give all their votes, whatever the stretch.
template <class Stretch, class OnVote>
__device__ void read_all(const ShardView& shard, const Stretch& stretch, const Lookup& own,
                         std::uint32_t lane, OnVote& on_vote) {
  constexpr std::uint32_t kLanes = 8;
  constexpr std::uint32_t kShort = 32;
  const bool is_long = own.end - own.begin > kShort;
  const unsigned short_ones = __ballot_sync(kAll, !is_long && own.end > own.begin);
  for (std::uint32_t first = 0; first < kWarp; first += kWarp / kLanes) {
    if ((short_ones >> first & ((1U << kWarp / kLanes) - 1)) == 0) continue;
    const Lookup at = of_lane(own, static_cast<int>(first + lane / kLanes));
    if (at.end - at.begin > kShort) continue;
    std::uint32_t words[kShort / kLanes];
#pragma unroll
    for (std::uint32_t i = 0; i < kShort / kLanes; ++i) {
      const std::uint32_t place = at.begin + lane % kLanes + i * kLanes;
      words[i] = place < at.end ? shard.words[place] : at.low - 1;
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kShort / kLanes; ++i) vote(shard, at, words[i], on_vote);
  }
  for (unsigned rest = __ballot_sync(kAll, is_long); rest != 0; rest &= rest - 1) {
    read_long(shard, stretch, of_lane(own, __ffs(static_cast<int>(rest)) - 1), lane, on_vote);
  }
}

/// Every vote of a chunk of a window's probes: those outside the stretch may or may not come.
template <class Stretch, class OnVote>
__device__ void gather(const ShardView& shard, const ProbeChunks& chunks, std::uint32_t window,
                       std::uint32_t chunk, const Stretch& stretch, OnVote&& on_vote) {
  const std::uint32_t begin = chunks.begin[window] + chunk * ProbeChunks::kChunk;
  const std::uint32_t end = min(chunks.begin[window + 1], begin + ProbeChunks::kChunk);
  const std::uint32_t lane = threadIdx.x % kWarp;
  for (std::uint32_t base = begin + threadIdx.x - lane; base < end; base += blockDim.x) {
    Lookup first{};
    Lookup second{};
    if (base + lane < end) find_lookups(shard, chunks.probes[base + lane], first, second);
    read_all(shard, stretch, first, lane, on_vote);
    if (__any_sync(kAll, second.begin != second.end)) {
      read_all(shard, stretch, second, lane, on_vote);
    }
  }
}

/// Calls place(partition, place within it) for a vote: once, and once more where the next partition
/// needs it as its neighbour.
template <class OnPlace>
__device__ void place_of(std::uint32_t counter, std::uint32_t partitions, OnPlace&& on_place) {
  const std::uint32_t partition = counter / Partitions::kCounters;
  const std::uint32_t place = counter - partition * Partitions::kCounters + 1;
  on_place(partition, place);
  if (place == Partitions::kCounters && partition + 1 < partitions) on_place(partition + 1, 0U);
}

}  // namespace

__global__ void __launch_bounds__(kGatherThreads, 6)
    count_votes(ShardView shard, ProbeChunks chunks, std::uint32_t partitions,
                std::uint32_t* counts) {
  auto* const thrown = kernels::cuda::dynamic_shared<std::uint32_t>();
  for (std::uint32_t p = threadIdx.x; p < partitions; p += blockDim.x) thrown[p] = 0;
  __syncthreads();
  const std::uint32_t window = blockIdx.x / chunks.chunks;
  const std::uint32_t chunk = blockIdx.x % chunks.chunks;
  gather(shard, chunks, window, chunk, WholeTimeLine{}, [&](std::uint32_t counter) {
    place_of(counter, partitions,
             [&](std::uint32_t p, std::uint32_t) { atomicAdd(&thrown[p], 1U); });
  });
  __syncthreads();
  std::uint32_t* const out = counts + std::size_t{window} * partitions * chunks.chunks;
  for (std::uint32_t p = threadIdx.x; p < partitions; p += blockDim.x) {
    out[p * chunks.chunks + chunk] = thrown[p];
  }
}

__global__ void __launch_bounds__(kScanThreads)
    place_votes(std::uint32_t* counts, std::uint32_t per_window, std::uint32_t* totals) {
  __shared__ std::uint32_t warp_sums[kScanThreads / kWarp];
  std::uint32_t* const own = counts + std::size_t{blockIdx.x} * per_window;
  const std::uint32_t lane = threadIdx.x % kWarp;
  const std::uint32_t warp = threadIdx.x / kWarp;
  std::uint32_t before = 0;
  for (std::uint32_t base = 0; base < per_window; base += kScanThreads) {
    const std::uint32_t i = base + threadIdx.x;
    const std::uint32_t value = i < per_window ? own[i] : 0;
    std::uint32_t sum = value;
    for (std::uint32_t step = 1; step < kWarp; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(kAll, sum, step);
      if (lane >= step) sum += other;
    }
    if (lane == kWarp - 1) warp_sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      std::uint32_t total = warp_sums[lane];
      for (std::uint32_t step = 1; step < kWarp; step *= 2) {
        const std::uint32_t other = __shfl_up_sync(kAll, total, step);
        if (lane >= step) total += other;
      }
      warp_sums[lane] = total;
    }
    __syncthreads();
    if (i < per_window) own[i] = before + (warp == 0 ? 0 : warp_sums[warp - 1]) + sum - value;
    before += warp_sums[kScanThreads / kWarp - 1];
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

__global__ void __launch_bounds__(kGatherThreads, 6)
    throw_votes(ShardView shard, ProbeChunks chunks, std::uint32_t windows,
                std::uint32_t partitions, const std::uint32_t* places, const std::uint64_t* base,
                std::uint16_t* votes) {
  __shared__ std::uint32_t next[kSlicePartitions];
  const std::uint32_t slice = blockIdx.x / (windows * chunks.chunks);
  const std::uint32_t window = blockIdx.x / chunks.chunks % windows;
  const std::uint32_t chunk = blockIdx.x % chunks.chunks;
  const std::uint32_t first = slice * kSlicePartitions;
  const std::uint32_t width = min(kSlicePartitions, partitions - first);
  const std::uint32_t* const own = places + std::size_t{window} * partitions * chunks.chunks;
  for (std::uint32_t p = threadIdx.x; p < width; p += blockDim.x) {
    next[p] = own[(first + p) * chunks.chunks + chunk];
  }
  __syncthreads();
  std::uint16_t* const out = votes + base[window];
  // The counter before the slice's first is needed too, as its neighbour.
  const SliceOfTimeLine stretch{max(first * Partitions::kCounters, 1U) - 1,
                                (first + width) * Partitions::kCounters};
  gather(shard, chunks, window, chunk, stretch, [&](std::uint32_t counter) {
    place_of(counter, partitions, [&](std::uint32_t p, std::uint32_t place) {
      if (p - first < width)
        out[atomicAdd(&next[p - first], 1U)] = static_cast<std::uint16_t>(place);
    });
  });
}

}  // namespace spintag::fingerprint::cuda
