// fingerprint/cuda/vote_tally.cu - thrown votes added up in shared memory, and the best of each
// window chosen.
#include "fingerprint/cuda/vote_kernels.cuh"

namespace spintag::fingerprint::cuda {
namespace {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kHeld = 12;  ///< votes that a thread keeps in registers
constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// The votes of one window for one partition.
struct Item {
  const std::uint32_t* votes;
  std::uint32_t count;
  std::uint32_t window;
  std::uint32_t first_counter;  ///< that place 1 of the partition stands for
};

/// The items of a block: partition after partition, each for all windows, so that what a window
/// nominated in its first partitions keeps its later ones from nominating in vain.
class Items {
 public:
  __device__ Items(const ThrownVotes& thrown, std::uint32_t windows, const Partitions& partitions)
      : thrown_(thrown), windows_(windows), partitions_(partitions), window_(blockIdx.x) {
    wrap();
  }

  __device__ Item next() {
    if (partition_ == partitions_.count) return {nullptr, 0, 0, 0};
    const std::size_t number = std::size_t{window_} * partitions_.count + partition_;
    const std::uint64_t base = thrown_.base[window_];
    const std::uint32_t begin = thrown_.places[number];
    const std::uint32_t end = partition_ + 1 < partitions_.count
                                  ? thrown_.places[number + 1]
                                  : static_cast<std::uint32_t>(thrown_.base[window_ + 1] - base);
    const Item item{thrown_.votes + base + begin, end - begin, window_,
                    partition_ * partitions_.counters};
    window_ += gridDim.x;
    wrap();
    return item;
  }

 private:
  __device__ void wrap() {
    while (window_ >= windows_ && partition_ < partitions_.count) {
      window_ -= windows_;
      ++partition_;
    }
  }

  const ThrownVotes& thrown_;
  std::uint32_t windows_;
  const Partitions& partitions_;
  std::uint32_t window_;
  std::uint32_t partition_ = 0;
};

/// Places [first, first + size) of a partition; the first is only there as the second's neighbour.
struct Part {
  std::uint32_t first;
  std::uint32_t size;

  __device__ bool holds(std::uint32_t place) const { return place - first < size; }
};

/// Counters in shared memory. A byte is enough for nearly all; a part in which one runs over is
/// counted again in smaller parts with wider counters.
template <int kBits>
struct Counters {
  static constexpr std::uint32_t kPerWord = 32 / kBits;
  static constexpr std::uint32_t kMost = kBits == 32 ? ~std::uint32_t{0} : (1U << kBits % 32) - 1;

  std::uint32_t* words;

  /// @return whether it ran over, into its neighbour
  __device__ bool add(std::uint32_t place) const {
    const std::uint32_t shift = place % kPerWord * (kBits % 32);
    return (atomicAdd(&words[place / kPerWord], 1U << shift) >> shift & kMost) == kMost;
  }
  __device__ std::uint32_t at(std::uint32_t place) const {  // least byte first
    if constexpr (kBits == 8) return reinterpret_cast<const std::uint8_t*>(words)[place];
    if constexpr (kBits == 16) return reinterpret_cast<const std::uint16_t*>(words)[place];
    return words[place];
  }
  /// Of the whole word: all votes that went there come by.
  __device__ void clear(std::uint32_t place) const { words[place / kPerWord] = 0; }
};

/// The bin of a sum, and the least sum of a bin.
__device__ std::uint32_t bin_of(std::uint32_t sum) {
  constexpr std::uint32_t kOctave = 6;  // that the shared bins begin with
  if (sum < NominationLists::kOwnBins) return sum;
  const std::uint32_t octave = 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(sum)));
  const std::uint32_t bin =
      NominationLists::kOwnBins + (octave - kOctave) * 4 + (sum >> (octave - 2) & 3);
  return min(bin, NominationLists::kBins - 1);
}
__device__ std::uint32_t least_of(std::uint32_t bin) {
  if (bin < NominationLists::kOwnBins) return bin;
  const std::uint32_t shared = bin - NominationLists::kOwnBins;
  return (4 + shared % 4) << (4 + shared / 4);
}

/// Puts a nomination on its window's list and raises the least sum that still counts, once one bin
/// alone was nominated often enough.
__device__ void nominate(const NominationLists& lists, std::uint32_t window, std::uint32_t counter,
                         std::uint32_t votes, std::uint32_t sum, std::uint32_t most) {
  if (sum < __ldcg(&lists.least[window])) return;  // raised since this block last looked
  const std::uint32_t place = atomicAdd(&lists.counts[window], 1U);
  if (place < lists.capacity) {
    lists.keys[std::size_t{window} * lists.capacity + place] =
        NominationKey::make(sum, counter, votes);
  }
  const std::uint32_t bin = bin_of(sum);
  const std::uint32_t before =
      atomicAdd(&lists.histograms[window * NominationLists::kBins + bin], 1U);
  if (before + 1 >= most) atomicMax(&lists.least[window], least_of(bin));
}

/// Adds up the votes of an item. `each` calls its argument for every place that is this thread's;
/// all threads of the block come here together.
struct Tally {
  std::uint32_t* words;
  std::uint32_t* nominated;  ///< one bit a counter
  std::uint32_t places;      ///< counters of a byte that there is room for
  const NominationLists& lists;
  std::uint32_t fewest;
  std::uint32_t most;

  template <int kBits, class Each>
  __device__ void count(const Item& item, const Part& part, const Each& each) const {
    const Counters<kBits> counters{words};
    bool ran_over = false;
    each([&](std::uint32_t place) {
      if (part.holds(place)) ran_over |= counters.add(place - part.first);
    });
    if (__syncthreads_or(static_cast<int>(ran_over)) == 0) {
      list(item, part, counters, each);
      __syncthreads();
    } else if constexpr (kBits < 32) {
      clear(part, counters, each);
      __syncthreads();
      const std::uint32_t size = places * 4 / kBits;  // that fit when twice as wide
      for (std::uint32_t first = 0; first + 1 < part.size; first += size - 1) {
        count<2 * kBits>(item, {part.first + first, min(size, part.size - first)}, each);
      }
      return;
    }
    clear(part, counters, each);
    __syncthreads();
  }

 private:
  template <class Counters, class Each>
  __device__ void list(const Item& item, const Part& part, const Counters& counters,
                       const Each& each) const {
    const std::uint32_t least = max(fewest, __ldcg(&lists.least[item.window]));
    each([&](std::uint32_t absolute) {
      const std::uint32_t place = absolute - part.first;
      if (place == 0 || place >= part.size) return;
      const std::uint32_t here = counters.at(place);
      const std::uint32_t sum = here + counters.at(place - 1);
      if (sum < least) return;
      const std::uint32_t bit = 1U << place % 32;
      if ((atomicOr(&nominated[place / 32], bit) & bit) == 0) {
        nominate(lists, item.window, item.first_counter + absolute - 1, here, sum, most);
      }
    });
  }

  template <class Counters, class Each>
  __device__ void clear(const Part& part, const Counters& counters, const Each& each) const {
    each([&](std::uint32_t place) {
      if (!part.holds(place)) return;
      counters.clear(place - part.first);
      nominated[(place - part.first) / 32] = 0;
    });
  }
};

}  // namespace

__global__ void __launch_bounds__(kTallyThreads, 1)
    tally_votes(ThrownVotes votes, std::uint32_t windows, Partitions partitions,
                std::uint32_t fewest, std::uint32_t most, NominationLists lists) {
  auto* const words = kernels::cuda::dynamic_shared<std::uint32_t>();
  for (std::uint32_t i = threadIdx.x; i < tally_shared(partitions.places) / 4; i += kTallyThreads)
    words[i] = 0;
  const Tally tally{words, words + partitions.places / 4, partitions.places, lists, fewest, most};
  const Part whole{0, partitions.places};
  Items items(votes, windows, partitions);

  // While an item is counted, the votes of the next are on their way.
  std::uint32_t held[kHeld];
  const auto fetch = [&](const Item& item) {
#pragma unroll
    for (std::uint32_t i = 0; i < kHeld; ++i) {
      if (i * kTallyThreads >= item.count) break;
      const std::uint32_t vote = i * kTallyThreads + threadIdx.x;
      held[i] = vote < item.count ? item.votes[vote] : kNone;
    }
  };
  Item next = items.next();
  fetch(next);
  __syncthreads();
  while (next.votes != nullptr) {
    const Item item = next;
    std::uint32_t own[kHeld];
#pragma unroll
    for (std::uint32_t i = 0; i < kHeld; ++i) own[i] = held[i];
    next = items.next();
    fetch(next);
    if (item.count < fewest) continue;
    if (item.count <= kHeld * kTallyThreads) {
      tally.count<8>(item, whole, [&](auto&& on_place) {
#pragma unroll
        for (std::uint32_t i = 0; i < kHeld; ++i) {
          if (i * kTallyThreads >= item.count) break;
          if (own[i] != kNone) on_place(own[i]);
        }
      });
    } else {
      tally.count<8>(item, whole, [&](auto&& on_place) {
        for (std::uint32_t i = threadIdx.x; i < item.count; i += kTallyThreads) {
          on_place(item.votes[i]);
        }
      });
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
      const std::uint64_t other = __shfl_xor_sync(kAllLanes, largest, step);
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
