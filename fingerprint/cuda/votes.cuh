// fingerprint/cuda/votes.cuh - votes of many windows on one shard, counted on the device.
//
// Votes are neither sorted nor added up in device memory. They are thrown into partitions of the
// time line, each as many counters as shared memory holds, and a block counts a partition of a
// window exactly. Three sweeps: how many votes of a window go into each partition, so that each
// has its place; throwing, by way of shared memory, where votes of one partition are brought
// together before they are written; counting.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fingerprint/cuda/batches.cuh"
#include "fingerprint/cuda/device_shard.cuh"
#include "fingerprint/votes.h"
#include "kernels/cuda/context.cuh"

namespace spintag::fingerprint::cuda {

/// Where votes go: counters of partition p are [p * counters, (p + 1) * counters).
struct Partitions {
  static constexpr int kPlaceBits = 18;  ///< that the number of a place takes
  static constexpr std::uint32_t kMostPlaces = 1U << kPlaceBits;

  std::uint32_t count = 0;
  /// A byte each and a bit each fill a block's shared memory, 192 Ki of them at most. One is the
  /// last counter of the partition before, because a nomination is the sum of a counter and the one
  /// before.
  std::uint32_t places = 0;
  std::uint32_t counters = 0;    ///< places - 1
  std::uint32_t reciprocal = 0;  ///< floor(2^32 / counters)

  /// @param shared_bytes  that a block may have
  static Partitions of(std::uint32_t units, std::size_t shared_bytes);
};

/// What counting did since the counter was made, for those who measure.
struct VoteStatistics {
  std::uint64_t votes = 0;
  std::uint32_t runs = 0;      ///< of windows whose votes were in memory together
  std::uint32_t recounts = 0;  ///< of runs in which a window nominated more than was room for
  double count_s = 0;          ///< the three sweeps
  double throw_s = 0;
  double tally_s = 0;
};

/// The votes of some windows, thrown.
struct ThrownVotes {
  const std::uint32_t* votes;   ///< places within their partitions
  const std::uint32_t* places;  ///< [windows, partitions] where each begins in its window
  const std::uint64_t* base;    ///< [windows + 1] where each window begins in `votes`
};

/// Scratch and launches of a vote. The same nominations as fingerprint::VoteCounter, window by
/// window.
class VoteCounter {
 public:
  explicit VoteCounter(std::shared_ptr<kernels::cuda::Context> context);

  /// @param shard   has at least one unit
  /// @param probes  of probes.count windows
  /// @param most    at most 64
  /// @param longest_bucket  buckets of more words are not read
  /// @return for each window its `most` best places of at least `fewest` votes, best first
  /// @throws kernels::DeviceError if the device fails or has no room for the votes of one window
  std::vector<std::vector<Nomination>> count(const DeviceShard& shard, const ProbeBatch& probes,
                                             std::uint32_t fewest, std::size_t most,
                                             std::uint32_t longest_bucket);

  const VoteStatistics& statistics() const { return statistics_; }

 private:
  struct Ballot;
  struct Run;

  void find_places(Ballot& ballot, std::uint32_t windows) const;
  void count_run(Ballot& ballot, const Run& run);
  std::vector<std::uint64_t> tally(const Ballot& ballot, std::uint32_t windows,
                                   const ThrownVotes& votes);
  std::uint64_t votes_at_once() const;

  std::shared_ptr<kernels::cuda::Context> context_;
  VoteStatistics statistics_;
};

}  // namespace spintag::fingerprint::cuda
