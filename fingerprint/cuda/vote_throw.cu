// fingerprint/cuda/vote_throw.cu - how many votes go where, and throwing them there.
#include "fingerprint/cuda/vote_gather.cuh"
#include "fingerprint/cuda/vote_kernels.cuh"

namespace spintag::fingerprint::cuda {
namespace {

/// Sum of `value` over this thread and those before it in the block. Uses and frees `of_warps`.
template <unsigned kThreads>
__device__ std::uint32_t inclusive_sum(std::uint32_t value, std::uint32_t* of_warps,
                                       std::uint32_t& all) {
  constexpr std::uint32_t kWarps = kThreads / kWarp;
  const std::uint32_t lane = threadIdx.x % kWarp;
  const std::uint32_t warp = threadIdx.x / kWarp;
  for (std::uint32_t step = 1; step < kWarp; step *= 2) {
    const std::uint32_t below = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += below;
  }
  if (lane == kWarp - 1) of_warps[warp] = value;
  __syncthreads();
  std::uint32_t before = 0;
  all = 0;
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    if (w < warp) before += of_warps[w];
    all += of_warps[w];
  }
  __syncthreads();
  return before + value;
}

/// Votes of a block on their way to device memory. They are put in order of partition first, so
/// that those of one partition are written side by side.
class Stage {
 public:
  __device__ Stage(std::uint32_t* memory, std::uint32_t room, const Partitions& partitions,
                   std::uint32_t* next, std::uint32_t* votes)
      : staged_(memory),
        counts_(memory + room),
        places_(counts_ + partitions.count),
        shifts_(places_ + partitions.count),
        partitions_(partitions),
        next_(next),
        votes_(votes) {
    for (std::uint32_t p = threadIdx.x; p < partitions.count; p += kThrowThreads) counts_[p] = 0;
  }

  /// Called by whole warps, at most kMostPut votes of each between two looks at `staged`.
  __device__ void put(const LaneVotes& votes, std::uint32_t& staged) {
    unsigned lanes[kVotesAtOnce];
    std::uint32_t all = 0;
    bool any_last = false;
#pragma unroll
    for (std::uint32_t i = 0; i < kVotesAtOnce; ++i) {
      lanes[i] = __ballot_sync(kAllLanes, votes.valid[i]);
      all += static_cast<std::uint32_t>(__popc(lanes[i]));
    }
    if (all == 0) return;
    std::uint32_t first = reserve(all, staged);
#pragma unroll
    for (std::uint32_t i = 0; i < kVotesAtOnce; ++i) {
      const VotePlace at(partitions_, votes.counter[i]);
      if (votes.valid[i]) {
        staged_[first + rank(lanes[i])] = at.partition << Partitions::kPlaceBits | at.place;
        any_last |= at.is_last(partitions_);
      }
      first += static_cast<std::uint32_t>(__popc(lanes[i]));
    }
    if (__any_sync(kAllLanes, any_last) != 0) put_neighbours(votes, staged);
  }
  static constexpr std::uint32_t kMostPut = 2 * kVotesAtOnce * kWarp;
  static_assert(kMostPut * kThrowThreads / kWarp == kThrowMargin);

  /// Called by the whole block between two barriers.
  __device__ void flush(std::uint32_t staged) {
    __shared__ std::uint32_t of_warps[kThrowThreads / kWarp];
    std::uint32_t held[kStagedPerThread];
#pragma unroll
    for (std::uint32_t i = 0; i < kStagedPerThread; ++i) {
      const std::uint32_t vote = i * kThrowThreads + threadIdx.x;
      if (vote >= staged) continue;
      held[i] = staged_[vote];
      atomicAdd(&counts_[held[i] >> Partitions::kPlaceBits], 1U);
    }
    __syncthreads();
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < partitions_.count; base += kThrowThreads) {
      const std::uint32_t p = base + threadIdx.x;
      const std::uint32_t count = p < partitions_.count ? counts_[p] : 0;
      std::uint32_t all = 0;
      const std::uint32_t place =
          before + inclusive_sum<kThrowThreads>(count, of_warps, all) - count;
      before += all;
      if (count == 0) continue;
      places_[p] = place;
      shifts_[p] = atomicAdd(&next_[p], count) - place;
      counts_[p] = 0;
    }
    __syncthreads();
#pragma unroll
    for (std::uint32_t i = 0; i < kStagedPerThread; ++i) {
      if (i * kThrowThreads + threadIdx.x >= staged) continue;
      staged_[atomicAdd(&places_[held[i] >> Partitions::kPlaceBits], 1U)] = held[i];
    }
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < staged; i += kThrowThreads) {
      const std::uint32_t vote = staged_[i];
      votes_[i + shifts_[vote >> Partitions::kPlaceBits]] = vote & (Partitions::kMostPlaces - 1);
    }
  }

 private:
  __device__ static std::uint32_t reserve(std::uint32_t count, std::uint32_t& staged) {
    std::uint32_t first = 0;
    if (threadIdx.x % kWarp == 0) first = atomicAdd(&staged, count);
    return __shfl_sync(kAllLanes, first, 0);
  }
  __device__ static std::uint32_t rank(unsigned lanes) {
    return static_cast<std::uint32_t>(__popc(lanes & ((1U << threadIdx.x % kWarp) - 1)));
  }

  /// Votes for the last counter of a partition: the next one needs them as the first's neighbour.
  __device__ void put_neighbours(const LaneVotes& votes, std::uint32_t& staged) {
    for (std::uint32_t i = 0; i < kVotesAtOnce; ++i) {
      const VotePlace at(partitions_, votes.counter[i]);
      const bool last = votes.valid[i] && at.is_last(partitions_);
      const unsigned lanes = __ballot_sync(kAllLanes, last);
      const std::uint32_t first = reserve(static_cast<std::uint32_t>(__popc(lanes)), staged);
      if (last) staged_[first + rank(lanes)] = (at.partition + 1) << Partitions::kPlaceBits;
    }
  }

  std::uint32_t* staged_;  ///< [room] partition and place
  std::uint32_t* counts_;  ///< [partitions] of the staged votes
  std::uint32_t* places_;  ///< [partitions] where the next of each goes when they are ordered
  std::uint32_t* shifts_;  ///< [partitions] from there to its place in device memory
  const Partitions& partitions_;
  std::uint32_t* next_;   ///< of this window, device memory
  std::uint32_t* votes_;  ///< likewise
};

}  // namespace

__global__ void __launch_bounds__(kCountThreads, 6)
    count_votes(ShardView shard, ProbeChunks chunks, Partitions partitions, std::uint32_t* counts) {
  auto* const thrown = kernels::cuda::dynamic_shared<std::uint32_t>();
  for (std::uint32_t p = threadIdx.x; p < partitions.count; p += blockDim.x) thrown[p] = 0;
  __syncthreads();
  const std::uint32_t window = blockIdx.x / chunks.chunks;
  const auto on_votes = [&](const LaneVotes& votes) {
#pragma unroll
    for (std::uint32_t i = 0; i < kVotesAtOnce; ++i) {
      if (!votes.valid[i]) continue;
      const VotePlace at(partitions, votes.counter[i]);
      atomicAdd(&thrown[at.partition], 1U);
      if (at.is_last(partitions)) atomicAdd(&thrown[at.partition + 1], 1U);
    }
  };
  VoteGather(shard, on_votes).read(chunks, window, blockIdx.x % chunks.chunks);
  __syncthreads();
  std::uint32_t* const out = counts + std::size_t{window} * partitions.count;
  for (std::uint32_t p = threadIdx.x; p < partitions.count; p += blockDim.x) {
    if (thrown[p] > 0) atomicAdd(&out[p], thrown[p]);
  }
}

__global__ void __launch_bounds__(kPlaceThreads)
    place_votes(const std::uint32_t* counts, std::uint32_t partitions, std::uint32_t* places,
                std::uint32_t* totals) {
  __shared__ std::uint32_t of_warps[kPlaceThreads / kWarp];
  const std::size_t first = std::size_t{blockIdx.x} * partitions;
  std::uint32_t before = 0;
  for (std::uint32_t base = 0; base < partitions; base += kPlaceThreads) {
    const std::uint32_t p = base + threadIdx.x;
    const std::uint32_t count = p < partitions ? counts[first + p] : 0;
    std::uint32_t all = 0;
    const std::uint32_t up_to = inclusive_sum<kPlaceThreads>(count, of_warps, all);
    if (p < partitions) places[first + p] = before + up_to - count;
    before += all;
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

/// A warp that finds the stage nearly full waits at a barrier until all have come there, or have
/// nothing more to look up; then the block empties it together.
__global__ void __launch_bounds__(kThrowThreads, 2)
    throw_votes(ShardView shard, ProbeChunks chunks, Partitions partitions, std::uint32_t room,
                std::uint32_t* next, const std::uint64_t* base, std::uint32_t* votes) {
  constexpr std::uint32_t kWarps = kThrowThreads / kWarp;
  __shared__ std::uint32_t staged;
  __shared__ std::uint32_t finished;  // warps
  const std::uint32_t window = blockIdx.x / chunks.chunks;
  Stage stage(kernels::cuda::dynamic_shared<std::uint32_t>(), room, partitions,
              next + std::size_t{window} * partitions.count, votes + base[window]);
  if (threadIdx.x == 0) staged = finished = 0;
  __syncthreads();

  const auto flush = [&] {
    __syncthreads();
    stage.flush(staged);
    const bool all_finished = finished == kWarps;
    __syncthreads();
    if (threadIdx.x == 0) staged = 0;
    __syncthreads();
    return all_finished;
  };
  const auto on_votes = [&](const LaneVotes& votes) {
    const std::uint32_t now =
        __shfl_sync(kAllLanes, *static_cast<volatile std::uint32_t*>(&staged), 0);
    if (now > room - kThrowMargin) flush();
    stage.put(votes, staged);
  };
  VoteGather(shard, on_votes).read(chunks, window, blockIdx.x % chunks.chunks);
  if (threadIdx.x % kWarp == 0) atomicAdd(&finished, 1U);
  while (!flush()) {
  }
}

}  // namespace spintag::fingerprint::cuda
