// fingerprint/votes.cpp - lookups, votes that stand alone dropped, the others sorted, and the runs
// in them.
#include "fingerprint/votes.h"

#include <algorithm>
#include <array>

#include "fingerprint/cuda/batch_matcher.h"
#include "fingerprint/shard_lookup.h"

namespace spintag::fingerprint {
namespace {

constexpr double kStepsPerSecond = Probe::kSteps;
static_assert(VoteClock::kStepsPerUnit / kStepsPerSecond == IndexShard::kUnitS);
static_assert((1 << VoteClock::kCounterShift) / kStepsPerSecond == VoteCounter::kCounterS);

}  // namespace

Nomination VoteClock::nomination(std::uint32_t counter, std::uint32_t votes, std::uint32_t sum) {
  constexpr double kPadS = kPadSteps / kStepsPerSecond;
  const double place = counter - 0.5 + static_cast<double>(votes) / sum;
  return {place * VoteCounter::kCounterS - kPadS, sum};
}

const std::vector<Nomination>& VoteCounter::count(const IndexShard& shard,
                                                  std::span<const Probe> probes,
                                                  std::uint32_t fewest, std::size_t most,
                                                  std::uint32_t longest_bucket) {
  ShardLookup lookup(shard, longest_bucket);
  lookup.for_each(probes, [&](std::uint32_t i, std::uint32_t, std::uint32_t unit) {
    add(VoteClock::counter(unit, probes[i].anchor_step));
  });
  return nominate(fewest, most);
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

const std::vector<Nomination>& VoteCounter::nominate(std::uint32_t fewest, std::size_t most) {
  nominations_.clear();
  lonely_.drop(counters_, fewest, [](std::uint32_t counter) { return counter; });
  sort();
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
  counters_.clear();
  return nominations_;
}

std::vector<std::vector<Nomination>> count_votes(kernels::Device& device, const IndexShard& shard,
                                                 std::span<const std::span<const Probe>> windows,
                                                 std::uint32_t fewest, std::size_t most,
                                                 std::uint32_t longest_bucket) {
  if (device.is_cuda())
    return cuda::count_votes(device, shard, windows, fewest, most, longest_bucket);
  VoteCounter counter;
  std::vector<std::vector<Nomination>> nominations;
  nominations.reserve(windows.size());
  for (const auto& probes : windows) {
    nominations.push_back(counter.count(shard, probes, fewest, most, longest_bucket));
  }
  return nominations;
}

}  // namespace spintag::fingerprint
