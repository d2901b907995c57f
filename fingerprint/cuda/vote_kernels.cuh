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
};

/// The probes of a run of windows, cut into chunks: block c of a window looks at probes
/// [begin + c * kChunk, begin + (c + 1) * kChunk).
struct ProbeChunks {
  static constexpr std::uint32_t kChunk = 4096;

  const Probe* probes;
  const std::uint32_t* begin;  ///< [windows + 1]
  std::uint32_t chunks;        ///< of each window
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
  static constexpr std::uint32_t kBins = 64;  ///< sums from 63 on share the last

  std::uint64_t* keys;        ///< [windows, capacity], each window's in any order
  std::uint32_t capacity;     ///< of a window's list; what comes when it is full is only counted
  std::uint32_t* counts;      ///< [windows]
  std::uint32_t* histograms;  ///< [windows, kBins] nominations of each sum
  std::uint32_t* least;       ///< [windows] a sum below it cannot be among the best any more
};

constexpr unsigned kGatherThreads = 256;
constexpr std::uint32_t kSlicePartitions = 512;  ///< that are thrown into at one time
constexpr unsigned kScanThreads = 1024;
constexpr unsigned kTallyThreads = 512;
constexpr unsigned kTallyBlocks = 3;  ///< that fit on a multiprocessor
constexpr unsigned kChooseThreads = 256;
/// Counters of 16 bits and one bit each that says whether a counter was nominated.
constexpr std::size_t kTallyShared = Partitions::kPlaces * 2 + Partitions::kPlaces / 8;

/// [windows * chunks blocks] counts[w, p, c] = votes that chunk c of window w throws into p.
/// Dynamic shared memory: 4 bytes a partition.
__global__ void count_votes(ShardView shard, ProbeChunks chunks, std::uint32_t partitions,
                            std::uint32_t* counts);
/// [windows blocks] Replaces each window's counts by their exclusive prefix sums.
__global__ void place_votes(std::uint32_t* counts, std::uint32_t per_window, std::uint32_t* totals);
/// [slices * windows * chunks blocks] votes[base[w] + place] = place within its partition. All
/// blocks that run together throw into one slice of the time line, so that what they write to lies
/// in the cache until it is full.
__global__ void throw_votes(ShardView shard, ProbeChunks chunks, std::uint32_t windows,
                            std::uint32_t partitions, const std::uint32_t* places,
                            const std::uint64_t* base, std::uint16_t* votes);
/// [any number of blocks] Counts partition after partition and lists the counters with at least
/// `fewest` votes together with the one before.
__global__ void tally_votes(ThrownVotes votes, std::uint32_t windows, std::uint32_t partitions,
                            std::uint32_t chunks, std::uint32_t fewest, std::uint32_t most,
                            NominationLists lists);
/// [windows blocks] best[w, 0 .. most) = the largest keys of each list, 0 where there are no more.
__global__ void choose_best(NominationLists lists, std::uint32_t most, std::uint64_t* best);

}  // namespace spintag::fingerprint::cuda
