// fingerprint/cuda/vote_kernels.cuh - the kernels of a vote.
#pragma once

#include <cstdint>

#include "fingerprint/cuda/votes.cuh"
#include "fingerprint/index_shard.h"

namespace spintag::fingerprint::cuda {

/// A shard as kernels see it.
struct ShardView {
  const std::uint32_t* directory;
  const std::uint32_t* words;
  std::uint32_t units;
  std::uint32_t keys_per_bucket;
  std::uint64_t reciprocal;
  std::uint32_t longest_bucket;  ///< those of more words are not read
};

/// The probes of a run of windows, cut into chunks: block c of a window looks at probes
/// [begin + c * size, begin + (c + 1) * size).
struct ProbeChunks {
  const Probe* probes;
  const std::uint32_t* begin;  ///< [windows + 1]
  std::uint32_t chunks;        ///< of each window
  std::uint32_t size;          ///< probes of a chunk
};

/// One place of a nomination list: votes with those of the counter before, then the earlier
/// counter, so that the largest is the best. Both counts are cut off where their bits end, far
/// above what a window of a minute can give.
struct NominationKey {
  static constexpr int kCounterBits = 29;  ///< 2^30 units of 5 steps, 16 to a counter
  static constexpr int kVotesBits = 17;
  static constexpr int kSumBits = 64 - kCounterBits - kVotesBits;

  SPINTAG_HOST_DEVICE static std::uint64_t make(std::uint32_t sum, std::uint32_t counter,
                                                std::uint32_t votes) {
    constexpr std::uint32_t kLastCounter = (1U << kCounterBits) - 1;
    constexpr std::uint32_t kMostVotes = (1U << kVotesBits) - 1;
    constexpr std::uint32_t kMostSum = (1U << kSumBits) - 1;
    return std::uint64_t{sum < kMostSum ? sum : kMostSum} << (kCounterBits + kVotesBits) |
           std::uint64_t{kLastCounter - counter} << kVotesBits |
           (votes < kMostVotes ? votes : kMostVotes);
  }
  static Nomination read(std::uint64_t key);
};

/// What the windows of a run have nominated so far.
struct NominationLists {
  /// A bin for each sum below 64, then four an octave.
  static constexpr std::uint32_t kBins = 128;
  static constexpr std::uint32_t kOwnBins = 64;

  std::uint64_t* keys;        ///< [windows, capacity], each window's in any order
  std::uint32_t capacity;     ///< of a window's list; what comes when it is full is only counted
  std::uint32_t* counts;      ///< [windows]
  std::uint32_t* histograms;  ///< [windows, kBins] nominations of each bin's sums
  std::uint32_t* least;       ///< [windows] a sum below it cannot be among the best any more
};

constexpr unsigned kCountThreads = 256;
constexpr unsigned kPlaceThreads = 1024;
constexpr unsigned kThrowThreads = 512;
constexpr unsigned kTallyThreads = 1024;
constexpr unsigned kChooseThreads = 256;

/// Votes that a block's threads take into registers when it throws them; it holds as many in shared
/// memory, or fewer where that is short.
constexpr std::uint32_t kStagedPerThread = 32;
constexpr std::uint32_t kMostStaged = kThrowThreads * kStagedPerThread;
/// What all its warps may put between two looks at how full it is: eight votes a lane.
constexpr std::uint32_t kThrowMargin = 8 * kThrowThreads;

/// Dynamic shared memory of throw_votes(): the staged votes and three words a partition.
constexpr std::size_t throw_shared(std::uint32_t staged, std::uint32_t partitions) {
  return (staged + 3 * std::size_t{partitions}) * sizeof(std::uint32_t);
}
/// Of tally_votes(): a byte a counter, and a bit that says whether it was nominated.
constexpr std::size_t tally_shared(std::uint32_t places) { return places + places / 8; }

/// [windows * chunks blocks] Adds to counts[w, p] the votes that each chunk of window w throws into
/// p. Dynamic shared memory: 4 bytes a partition.
__global__ void count_votes(ShardView shard, ProbeChunks chunks, Partitions partitions,
                            std::uint32_t* counts);
/// [windows blocks] places[w, p] = votes of w before p; totals[w] = all of them.
__global__ void place_votes(const std::uint32_t* counts, std::uint32_t partitions,
                            std::uint32_t* places, std::uint32_t* totals);
/// [windows * chunks blocks] Puts every vote, as its place within its partition, among those of its
/// window and partition. next[w, p] counts up from places[w, p].
/// @param room  votes that a block may stage
__global__ void throw_votes(ShardView shard, ProbeChunks chunks, Partitions partitions,
                            std::uint32_t room, std::uint32_t* next, const std::uint64_t* base,
                            std::uint32_t* votes);
/// [any number of blocks] Counts partition after partition and lists the counters with at least
/// `fewest` votes together with the one before.
__global__ void tally_votes(ThrownVotes votes, std::uint32_t windows, Partitions partitions,
                            std::uint32_t fewest, std::uint32_t most, NominationLists lists);
/// [windows blocks] best[w, 0 .. most) = the largest keys of each list, 0 where there are no more.
__global__ void choose_best(NominationLists lists, std::uint32_t most, std::uint64_t* best);

}  // namespace spintag::fingerprint::cuda
