// fingerprint/votes.h - counting agreements on one time offset over the whole catalogue's time
// line.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fingerprint/index_shard.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/lonely_votes.h"
#include "kernels/device.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

/// Words of the longest bucket that is read: any number.
inline constexpr std::uint32_t kEveryBucket = std::numeric_limits<std::uint32_t>::max();

/// A place on a shard's time line where votes agree.
struct Nomination {
  double offset_s = 0;  ///< on the shard's time line, of the window's start; may be negative
  std::uint32_t votes = 0;
};

/// How votes are laid out on the time line, for every device that counts them.
struct VoteClock {
  static constexpr int kCounterShift = 4;             ///< a counter is 16 steps of 4 ms
  static constexpr std::uint64_t kStepsPerUnit = 5;   ///< a unit of the time line, 20 ms
  static constexpr std::uint64_t kPadSteps = 65'536;  ///< a window may begin before the time line

  /// The counter that a posting at `unit` votes for when its anchor stands `anchor_step` steps into
  /// the window.
  SPINTAG_HOST_DEVICE static std::uint32_t counter(std::uint32_t unit, std::uint32_t anchor_step) {
    return static_cast<std::uint32_t>(step(unit, anchor_step) >> kCounterShift);
  }
  /// The window's start according to such a posting, in steps.
  SPINTAG_HOST_DEVICE static std::uint64_t step(std::uint32_t unit, std::uint32_t anchor_step) {
    return unit * kStepsPerUnit + kStepsPerUnit / 2 + kPadSteps - anchor_step;
  }

  /// The place of a counter with so many votes of its own, of `sum` with those of the counter
  /// before it: its middle, drawn towards its neighbour by the neighbour's votes.
  static Nomination nomination(std::uint32_t counter, std::uint32_t votes, std::uint32_t sum);
};

/// Scratch of a vote. Memory grows with the agreements met, not with the catalogue.
class VoteCounter {
 public:
  static constexpr double kCounterS = 0.064;
  static constexpr std::uint32_t kFewestVotes = 3;  ///< of a nomination

  /// Looks every probe up and nominates.
  /// @param longest_bucket  buckets of more words are not read
  const std::vector<Nomination>& count(const IndexShard& shard, std::span<const Probe> probes,
                                       std::uint32_t fewest, std::size_t most,
                                       std::uint32_t longest_bucket = kEveryBucket);

  /// One vote, for a counter of VoteClock.
  void add(std::uint32_t counter) { counters_.push_back(counter); }
  /// The `most` best places with at least `fewest` votes (two neighbouring counters summed), best
  /// first; equals in order of time. The votes are gone after it.
  const std::vector<Nomination>& nominate(std::uint32_t fewest, std::size_t most);

 private:
  void sort();

  std::vector<std::uint32_t> counters_;  ///< one entry a vote: number of its counter
  std::vector<std::uint32_t> sorted_;    ///< scratch of the radix sort
  LonelyVotes lonely_;
  std::vector<Nomination> nominations_;
};

/// VoteCounter::count() for the probes of many windows.
/// @return for each window its nominations, the same from every device
/// @throws kernels::DeviceError if the device fails. One caller per Device at a time.
std::vector<std::vector<Nomination>> count_votes(kernels::Device& device, const IndexShard& shard,
                                                 std::span<const std::span<const Probe>> windows,
                                                 std::uint32_t fewest, std::size_t most,
                                                 std::uint32_t longest_bucket = kEveryBucket);

}  // namespace spintag::fingerprint
