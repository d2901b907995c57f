// fingerprint/votes.cpp - lookups with prefetch, a radix sort of the votes, and the runs in it.
#include "fingerprint/votes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace spintag::fingerprint {
namespace {

/// Times in steps of 4 ms: a unit of the time line is 5 of them, a counter 16.
constexpr std::uint64_t kStepsPerUnit = 5;
constexpr int kCounterShift = 4;
constexpr double kStepsPerSecond = 250;
static_assert(kStepsPerUnit / kStepsPerSecond == IndexShard::kUnitS);
static_assert((1 << kCounterShift) / kStepsPerSecond == VoteCounter::kCounterS);
/// A window may begin up to four minutes before the time line does.
constexpr std::uint64_t kPadSteps = 60'000;

}  // namespace

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
  constexpr std::size_t kAhead =
      16;  // probes in flight: a large index answers from memory, not from cache
  const auto prefetch = [&](std::size_t i) {
    if (i + 2 * kAhead < probes.size()) shard.prefetch_directory(probes[i + 2 * kAhead].hash);
    if (i + kAhead < probes.size()) shard.prefetch_words(probes[i + kAhead].hash);
  };
  for (std::size_t i = 0; i < probes.size(); ++i) {
    prefetch(i);
    const Probe& probe = probes[i];
    const auto back =
        static_cast<std::uint64_t>(std::lround(probe.anchor_time_s * kStepsPerSecond));
    for (std::uint32_t k = 0; k < probe.count; ++k) {
      shard.for_each_unit(probe.hash + k, [&](std::uint32_t unit) {
        const std::uint64_t step = unit * kStepsPerUnit + kStepsPerUnit / 2 + kPadSteps - back;
        counters_.push_back(static_cast<std::uint32_t>(step >> kCounterShift));
      });
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
  const double pad_s = kPadSteps / kStepsPerSecond;
  std::uint32_t previous = 0;
  std::uint32_t previous_votes = 0;
  for (std::size_t i = 0; i < counters_.size();) {
    std::size_t end = i + 1;
    while (end < counters_.size() && counters_[end] == counters_[i]) ++end;
    const auto votes = static_cast<std::uint32_t>(end - i);
    const bool adjoins = previous_votes > 0 && counters_[i] == previous + 1;
    const std::uint32_t sum = votes + (adjoins ? previous_votes : 0);
    if (sum >= fewest) {
      // The middle of a counter, drawn towards its neighbour by the neighbour's votes.
      const double place = counters_[i] - 0.5 + static_cast<double>(votes) / sum;
      nominations_.push_back({place * kCounterS - pad_s, sum});
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

}  // namespace spintag::fingerprint
