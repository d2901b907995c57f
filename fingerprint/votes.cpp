// fingerprint/votes.cpp - lookups with prefetch, a radix sort of the votes, and the runs in it.
#include "fingerprint/votes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "fingerprint/cuda/batch_matcher.h"
#include "kernels/multiversion.h"

namespace spintag::fingerprint {
namespace {

constexpr double kStepsPerSecond = Probe::kSteps;
static_assert(VoteClock::kStepsPerUnit / kStepsPerSecond == IndexShard::kUnitS);
static_assert((1 << VoteClock::kCounterShift) / kStepsPerSecond == VoteCounter::kCounterS);

/// The words that a probe has to look through.
struct Lookup {
  const std::uint32_t* begin;
  std::uint32_t words;
  std::uint32_t low;   ///< first word of the probe's first hash
  std::uint32_t span;  ///< words of all its hashes lie in [low, low + span)
};

/// Directory first, then words: each stage fetches what the next one reads.
void locate(const IndexShard& shard, std::span<const Probe> probes, std::span<Lookup> lookups) {
  const ShardArrays& arrays = shard.arrays();
  std::array<IndexShard::Place, 64> places{};
  for (std::size_t i = 0; i < probes.size(); ++i) {
    places[i] = shard.place(probes[i].hash);
    __builtin_prefetch(&arrays.directory[places[i].bucket]);
  }
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const std::uint32_t begin = arrays.directory[places[i].bucket];
    // The last key of a bucket may have its neighbour in the next one.
    const bool spills =
        probes[i].count > 1 && shard.place(probes[i].hash + 1).bucket != places[i].bucket;
    const std::uint32_t end = arrays.directory[places[i].bucket + (spills ? 2 : 1)];
    lookups[i] = {
        arrays.words.data() + begin, end - begin, places[i].rest * arrays.units,
        spills ? std::numeric_limits<std::uint32_t>::max() : probes[i].count * arrays.units};
    __builtin_prefetch(lookups[i].begin);
    __builtin_prefetch(lookups[i].begin + 16);
  }
}

/// Bit i is set where lookup i meets a posting (or may: a pair of buckets is always looked at).
/// Nine in ten meet none, and counting without branches costs less than finding out where to stop.
SPINTAG_CLONES std::uint64_t buckets_that_answer(std::uint32_t units,
                                                 std::span<const Lookup> lookups) {
  std::uint64_t answers = 0;
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const Lookup at = lookups[i];
    std::uint32_t met = at.span == std::numeric_limits<std::uint32_t>::max() ? 1 : 0;
    for (std::uint32_t k = 0; k < at.words; ++k) met += at.begin[k] - at.low < at.span ? 1 : 0;
    answers |= std::uint64_t{met != 0} << i;
  }
  return units == 0 ? 0 : answers;
}

}  // namespace

Nomination VoteClock::nomination(std::uint32_t counter, std::uint32_t votes, std::uint32_t sum) {
  constexpr double kPadS = kPadSteps / kStepsPerSecond;
  const double place = counter - 0.5 + static_cast<double>(votes) / sum;
  return {place * VoteCounter::kCounterS - kPadS, sum};
}

const std::vector<Nomination>& VoteCounter::count(const IndexShard& shard,
                                                  std::span<const Probe> probes,
                                                  std::uint32_t fewest, std::size_t most) {
  collect(shard, probes);
  sort();
  nominate(fewest, most);
  return nominations_;
}

void VoteCounter::collect(const IndexShard& shard, std::span<const Probe> probes) {
  counters_.clear();
  constexpr std::size_t kBatch =
      64;  // in flight at once: a large index answers from memory, not from cache
  std::array<Lookup, kBatch> lookups{};
  for (std::size_t first = 0; first < probes.size(); first += kBatch) {
    const auto batch = probes.subspan(first, std::min(kBatch, probes.size() - first));
    locate(shard, batch, lookups);
    const std::uint64_t met =
        buckets_that_answer(shard.arrays().units, std::span(lookups).first(batch.size()));
    for (std::uint64_t rest = met; rest != 0; rest &= rest - 1) {
      const Probe& probe = batch[static_cast<std::size_t>(std::countr_zero(rest))];
      for (std::uint32_t k = 0; k < probe.count; ++k) {
        shard.for_each_unit(probe.hash + k, [&](std::uint32_t unit) {
          counters_.push_back(VoteClock::counter(unit, probe.anchor_step));
        });
      }
    }
  }
}

/// Least significant digit first, as many 11-bit digits as the largest number has.
void VoteCounter::sort() {
  constexpr int kDigitBits = 11;
  constexpr std::uint32_t kMask = (1U << kDigitBits) - 1;
  const std::uint32_t largest =
      counters_.empty() ? 0 : *std::max_element(counters_.begin(), counters_.end());
  sorted_.resize(counters_.size());
  for (int shift = 0; shift < 32 && largest >> shift != 0; shift += kDigitBits) {
    std::array<std::uint32_t, kMask + 2> begin{};
    for (const std::uint32_t counter : counters_) ++begin[(counter >> shift & kMask) + 1];
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    for (const std::uint32_t counter : counters_)
      sorted_[begin[counter >> shift & kMask]++] = counter;
    counters_.swap(sorted_);
  }
}

void VoteCounter::nominate(std::uint32_t fewest, std::size_t most) {
  nominations_.clear();
  std::uint32_t previous = 0;
  std::uint32_t previous_votes = 0;
  for (std::size_t i = 0; i < counters_.size();) {
    std::size_t end = i + 1;
    while (end < counters_.size() && counters_[end] == counters_[i]) ++end;
    const auto votes = static_cast<std::uint32_t>(end - i);
    const bool adjoins = previous_votes > 0 && counters_[i] == previous + 1;
    const std::uint32_t sum = votes + (adjoins ? previous_votes : 0);
    if (sum >= fewest) {
      nominations_.push_back(VoteClock::nomination(counters_[i], votes, sum));
    }
    previous = counters_[i];
    previous_votes = votes;
    i = end;
  }
  const auto better = [](const Nomination& a, const Nomination& b) {
    return a.votes != b.votes ? a.votes > b.votes : a.offset_s < b.offset_s;
  };
  const std::size_t kept = std::min(most, nominations_.size());
  std::partial_sort(nominations_.begin(), nominations_.begin() + static_cast<std::ptrdiff_t>(kept),
                    nominations_.end(), better);
  nominations_.resize(kept);
}

std::vector<std::vector<Nomination>> count_votes(kernels::Device& device, const IndexShard& shard,
                                                 std::span<const std::span<const Probe>> windows,
                                                 std::uint32_t fewest, std::size_t most) {
  if (device.is_cuda()) return cuda::count_votes(device, shard, windows, fewest, most);
  VoteCounter counter;
  std::vector<std::vector<Nomination>> nominations;
  nominations.reserve(windows.size());
  for (const auto& probes : windows) {
    nominations.push_back(counter.count(shard, probes, fewest, most));
  }
  return nominations;
}

}  // namespace spintag::fingerprint
