// fingerprint/cuda/vote_kernels.cu - lookups by warps, exact counts in shared memory.
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

/// A bucket that is longer than a warp: its run of words is found by search, then read through.
template <class OnVote>
__device__ void read_long(const ShardView& shard, const Lookup& at, std::uint32_t lane,
                          OnVote& on_vote) {
  std::uint32_t k = lower_bound(shard.words, at.begin, at.end, at.low, lane) + lane;
  constexpr int kAtOnce = 4;
  for (bool more = true; more; k += kAtOnce * kWarp) {
    std::uint32_t words[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const std::uint32_t place = k + static_cast<std::uint32_t>(i) * kWarp;
      words[i] = place < at.end ? shard.words[place] : at.low - 1;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      vote(shard, at, words[i], on_vote);
    }
    more = __all_sync(kAll, words[kAtOnce - 1] - at.low < at.span) != 0;
  }
}

/// 32 lookups of a warp: eight lanes each to the short buckets, the whole warp to each long one.
template <class OnVote>
__device__ void read_all(const ShardView& shard, const Lookup& own, std::uint32_t lane,
                         OnVote& on_vote) {
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
    read_long(shard, of_lane(own, __ffs(static_cast<int>(rest)) - 1), lane, on_vote);
  }
}

/// Every vote of this block's chunk.
template <class OnVote>
__device__ void gather(const ShardView& shard, const ProbeChunks& chunks, OnVote&& on_vote) {
  const std::uint32_t window = blockIdx.x / chunks.chunks;
  const std::uint32_t chunk = blockIdx.x % chunks.chunks;
  const std::uint32_t begin = chunks.begin[window] + chunk * ProbeChunks::kChunk;
  const std::uint32_t end = min(chunks.begin[window + 1], begin + ProbeChunks::kChunk);
  const std::uint32_t lane = threadIdx.x % kWarp;
  for (std::uint32_t base = begin + threadIdx.x - lane; base < end; base += blockDim.x) {
    Lookup first{};
    Lookup second{};
    if (base + lane < end) find_lookups(shard, chunks.probes[base + lane], first, second);
    read_all(shard, first, lane, on_vote);
    if (__any_sync(kAll, second.begin != second.end)) read_all(shard, second, lane, on_vote);
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
  gather(shard, chunks, [&](std::uint32_t counter) {
    place_of(counter, partitions,
             [&](std::uint32_t p, std::uint32_t) { atomicAdd(&thrown[p], 1U); });
  });
  __syncthreads();
  const std::uint32_t window = blockIdx.x / chunks.chunks;
  std::uint32_t* const out = counts + std::size_t{window} * partitions * chunks.chunks;
  for (std::uint32_t p = threadIdx.x; p < partitions; p += blockDim.x) {
    out[p * chunks.chunks + blockIdx.x % chunks.chunks] = thrown[p];
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
    throw_votes(ShardView shard, ProbeChunks chunks, std::uint32_t partitions,
                const std::uint32_t* places, const std::uint64_t* base, std::uint16_t* votes) {
  auto* const next = kernels::cuda::dynamic_shared<std::uint32_t>();
  const std::uint32_t window = blockIdx.x / chunks.chunks;
  const std::uint32_t* const own = places + std::size_t{window} * partitions * chunks.chunks;
  for (std::uint32_t p = threadIdx.x; p < partitions; p += blockDim.x) {
    next[p] = own[p * chunks.chunks + blockIdx.x % chunks.chunks];
  }
  __syncthreads();
  std::uint16_t* const out = votes + base[window];
  gather(shard, chunks, [&](std::uint32_t counter) {
    place_of(counter, partitions, [&](std::uint32_t p, std::uint32_t place) {
      out[atomicAdd(&next[p], 1U)] = static_cast<std::uint16_t>(place);
    });
  });
}

namespace {

/// Counters of a part of a partition, in shared memory: 16 bits each, or 32 where a partition of
/// more votes than 16 bits count is looked at in two parts.
struct Counters {
  std::uint32_t* words;
  int bits;

  __device__ void add(std::uint32_t place) const {
    if (bits == 32) {
      atomicAdd(&words[place], 1U);
    } else {
      atomicAdd(&words[place / 2], 1U << (place % 2 * 16));
    }
  }
  __device__ std::uint32_t at(std::uint32_t place) const {
    return bits == 32 ? words[place] : words[place / 2] >> (place % 2 * 16) & 0xFFFF;
  }
  __device__ void clear(std::uint32_t place) const { words[bits == 32 ? place : place / 2] = 0; }
};

/// Puts a nomination on its window's list and raises the least sum that still counts, once one sum
/// alone was nominated often enough.
__device__ void nominate(const NominationLists& lists, std::uint32_t window, std::uint32_t counter,
                         std::uint32_t votes, std::uint32_t sum, std::uint32_t most) {
  const std::uint32_t place = atomicAdd(&lists.counts[window], 1U);
  if (place < lists.capacity) {
    lists.keys[std::size_t{window} * lists.capacity + place] =
        NominationKey::make(sum, counter, votes);
  }
  const std::uint32_t bin = min(sum, NominationLists::kBins - 1);
  const std::uint32_t before =
      atomicAdd(&lists.histograms[window * NominationLists::kBins + bin], 1U);
  if (before + 1 >= most) atomicMax(&lists.least[window], bin);
}

}  // namespace

__global__ void __launch_bounds__(kTallyThreads, kTallyBlocks)
    tally_votes(ThrownVotes votes, std::uint32_t windows, std::uint32_t partitions,
                std::uint32_t chunks, std::uint32_t fewest, std::uint32_t most,
                NominationLists lists) {
  constexpr std::uint32_t kWords = Partitions::kPlaces / 2;
  constexpr std::uint32_t kMostOf16Bits = 0xFFFF;
  auto* const table = kernels::cuda::dynamic_shared<std::uint32_t>();
  std::uint32_t* const nominated = table + kWords;  // one bit a counter
  for (std::uint32_t i = threadIdx.x; i < kTallyShared / 4; i += blockDim.x) table[i] = 0;
  __syncthreads();
  for (std::uint64_t item = blockIdx.x; item < std::uint64_t{windows} * partitions;
       item += gridDim.x) {
    const auto window = static_cast<std::uint32_t>(item / partitions);
    const auto partition = static_cast<std::uint32_t>(item % partitions);
    const std::uint32_t begin = votes.places[item * chunks];
    const std::uint32_t end =
        partition + 1 < partitions
            ? votes.places[(item + 1) * chunks]
            : static_cast<std::uint32_t>(votes.base[window + 1] - votes.base[window]);
    if (end - begin < fewest) continue;
    const std::uint32_t least = max(fewest, __ldcg(&lists.least[window]));
    const std::uint16_t* const own = votes.votes + votes.base[window];
    const Counters counters{table, end - begin > kMostOf16Bits ? 32 : 16};
    const std::uint32_t part = counters.bits == 32 ? kWords : Partitions::kPlaces;
    // Parts overlap by the counter that the first of the next one has before it.
    for (std::uint32_t first = 0; first + 1 < Partitions::kPlaces; first += part - 1) {
      for (std::uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const std::uint32_t place = own[i] - first;
        if (place < part) counters.add(place);
      }
      __syncthreads();
      for (std::uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const std::uint32_t place = own[i] - first;
        if (place == 0 || place >= part) continue;
        const std::uint32_t here = counters.at(place);
        const std::uint32_t sum = here + counters.at(place - 1);
        if (sum < least) continue;
        const std::uint32_t bit = 1U << place % 32;
        if ((atomicOr(&nominated[place / 32], bit) & bit) == 0) {
          nominate(lists, window, partition * Partitions::kCounters + first + place - 1, here, sum,
                   most);
        }
      }
      __syncthreads();
      for (std::uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const std::uint32_t place = own[i] - first;
        if (place >= part) continue;
        counters.clear(place);
        nominated[place / 32] = 0;
      }
      __syncthreads();
    }
  }
}

__global__ void __launch_bounds__(kChooseThreads)
    choose_best(NominationLists lists, std::uint32_t most, std::uint64_t* best) {
  __shared__ std::uint64_t of_warp[kChooseThreads / kWarp];
  __shared__ std::uint64_t chosen;
  const std::uint32_t count = min(lists.counts[blockIdx.x], lists.capacity);
  const std::uint64_t* const keys = lists.keys + std::size_t{blockIdx.x} * lists.capacity;
  std::uint64_t* const out = best + std::size_t{blockIdx.x} * most;
  std::uint64_t below = ~std::uint64_t{0};
  for (std::uint32_t k = 0; k < most; ++k) {
    std::uint64_t largest = 0;
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      if (keys[i] < below && keys[i] > largest) largest = keys[i];
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const std::uint64_t other = __shfl_xor_sync(kAll, largest, step);
      if (other > largest) largest = other;
    }
    if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = largest;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (std::uint32_t w = 1; w < kChooseThreads / kWarp; ++w) {
        if (of_warp[w] > largest) largest = of_warp[w];
      }
      chosen = largest;
      out[k] = largest;
    }
    __syncthreads();
    below = chosen;
  }
}

}  // namespace spintag::fingerprint::cuda
