// fingerprint/cuda/vote_tally.cu - thrown votes added up in shared memory, and the best of each
// window chosen.
#include "fingerprint/cuda/vote_kernels.cuh"

namespace spintag::fingerprint::cuda {
namespace {

constexpr unsigned kAll = 0xFFFFFFFFU;
constexpr std::uint32_t kWarp = 32;

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

namespace {

/// The votes of one window for one partition.
struct TallyItem {
  const std::uint16_t* votes;
  std::uint32_t count;
  std::uint32_t window;
  std::uint32_t first_counter;  ///< that place 1 of the partition stands for

  __device__ static TallyItem of(const ThrownVotes& thrown, std::uint32_t number,
                                 std::uint32_t items, std::uint32_t partitions,
                                 std::uint32_t chunks) {
    if (number >= items) return {nullptr, 0, 0, 0};
    const std::uint32_t window = number / partitions;
    const std::uint32_t partition = number % partitions;
    const std::uint64_t base = thrown.base[window];
    const std::uint32_t begin = thrown.places[std::size_t{number} * chunks];
    const std::uint32_t end = partition + 1 < partitions
                                  ? thrown.places[(std::size_t{number} + 1) * chunks]
                                  : static_cast<std::uint32_t>(thrown.base[window + 1] - base);
    return {thrown.votes + base + begin, end - begin, window, partition * Partitions::kCounters};
  }
};

/// Adds up the votes of an item whose places this thread and its neighbours hold in registers, or
/// read again in every sweep: `each` calls its argument for every place that is this thread's.
struct Tally {
  Counters counters;
  std::uint32_t* nominated;  ///< one bit a counter
  NominationLists lists;
  std::uint32_t fewest;
  std::uint32_t most;

  /// Places [first, first + part); a place's neighbour has to be one of them.
  template <class Each>
  __device__ void part(const TallyItem& item, std::uint32_t first, std::uint32_t part,
                       Each&& each) const {
    each([&](std::uint32_t place) {
      if (place - first < part) counters.add(place - first);
    });
    __syncthreads();
    const std::uint32_t least = max(fewest, __ldcg(&lists.least[item.window]));
    each([&](std::uint32_t absolute) {
      const std::uint32_t place = absolute - first;
      if (place == 0 || place >= part) return;
      const std::uint32_t here = counters.at(place);
      const std::uint32_t sum = here + counters.at(place - 1);
      if (sum < least) return;
      const std::uint32_t bit = 1U << place % 32;
      if ((atomicOr(&nominated[place / 32], bit) & bit) == 0) {
        nominate(lists, item.window, item.first_counter + absolute - 1, here, sum, most);
      }
    });
    __syncthreads();
    each([&](std::uint32_t absolute) {
      const std::uint32_t place = absolute - first;
      if (place >= part) return;
      counters.clear(place);
      nominated[place / 32] = 0;
    });
    __syncthreads();
  }
};

}  // namespace

__global__ void __launch_bounds__(kTallyThreads, kTallyBlocks)
    tally_votes(ThrownVotes votes, std::uint32_t windows, std::uint32_t partitions,
                std::uint32_t chunks, std::uint32_t fewest, std::uint32_t most,
                NominationLists lists) {
  constexpr std::uint32_t kWords = Partitions::kPlaces / 2;
  constexpr std::uint32_t kMostOf16Bits = 0xFFFF;
  constexpr std::uint32_t kHeld = 8;  // votes that a thread keeps in registers
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  auto* const table = kernels::cuda::dynamic_shared<std::uint32_t>();
  for (std::uint32_t i = threadIdx.x; i < kTallyShared / 4; i += blockDim.x) table[i] = 0;
  Tally tally{{table, 16}, table + kWords, lists, fewest, most};
  const std::uint32_t items = windows * partitions;

  // While an item is counted, the votes of the next are on their way.
  std::uint32_t held[kHeld];
  const auto fetch = [&](const TallyItem& item) {
#pragma unroll
    for (std::uint32_t i = 0; i < kHeld; ++i) {
      const std::uint32_t vote = i * kTallyThreads + threadIdx.x;
      held[i] = vote < item.count ? item.votes[vote] : kNone;
    }
  };
  TallyItem next = TallyItem::of(votes, blockIdx.x, items, partitions, chunks);
  fetch(next);
  __syncthreads();
  for (std::uint32_t number = blockIdx.x; number < items; number += gridDim.x) {
    const TallyItem item = next;
    std::uint32_t own[kHeld];
#pragma unroll
    for (std::uint32_t i = 0; i < kHeld; ++i) own[i] = held[i];
    next = TallyItem::of(votes, items - number > gridDim.x ? number + gridDim.x : items, items,
                         partitions, chunks);
    fetch(next);
    if (item.count < fewest) continue;
    if (item.count <= kHeld * kTallyThreads) {
      tally.part(item, 0, Partitions::kPlaces, [&](auto&& on_place) {
#pragma unroll
        for (std::uint32_t i = 0; i < kHeld; ++i) {
          if (own[i] != kNone) on_place(own[i]);
        }
      });
      continue;
    }
    const auto from_memory = [&](auto&& on_place) {
      for (std::uint32_t i = threadIdx.x; i < item.count; i += kTallyThreads) {
        on_place(item.votes[i]);
      }
    };
    tally.counters.bits = item.count > kMostOf16Bits ? 32 : 16;
    const std::uint32_t part = tally.counters.bits == 32 ? kWords : Partitions::kPlaces;
    // Parts overlap by the counter that the first of the next one has before it.
    for (std::uint32_t first = 0; first + 1 < Partitions::kPlaces; first += part - 1) {
      tally.part(item, first, part, from_memory);
    }
    tally.counters.bits = 16;
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
