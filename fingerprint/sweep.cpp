// fingerprint/sweep.cpp - ranges of hashes looked up in batches, votes counted tempo by tempo.
#include "fingerprint/sweep.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "fingerprint/profile.h"
#include "fingerprint/shard_lookup.h"

namespace spintag::fingerprint {

using namespace landmark_math;

void Sweep::run(const IndexShard& shard, std::uint32_t shard_number, std::span<const Peak> peaks,
                double origin_s, const Search& how, NominationPool& pool) {
  if (shard.arrays().units == 0) return;
  peaks_ = peaks;
  origin_s_ = origin_s;
  soft_ = how.soft;
  slowest_ = fastest_ = 0;
  const std::span<const Hypothesis> all = how.hypotheses;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first + 1;
    while (end < all.size() && all[end].pitch == all[first].pitch &&
           all[end].tempo > all[end - 1].tempo) {
      ++end;
    }
    const Group group{all.subspan(first, end - first), static_cast<std::uint32_t>(first)};
    if (counters_.size() < group.hypotheses.size()) counters_.resize(group.hypotheses.size());
    sweep(shard, group);
    for (std::size_t i = 0; i < group.hypotheses.size(); ++i) {
      const std::uint32_t fewest = std::max(VoteCounter::kFewestVotes, pool.fewest());
      for (const Nomination& place : counters_[i].nominate(fewest, how.nominations))
        pool.add({place, group.first + static_cast<std::uint32_t>(i), shard_number});
    }
    first = end;
  }
}

/// Tempi of one pitch after the other are mostly the same ones, and so are the pairs.
void Sweep::pair_up(const Hypothesis& slowest, const Hypothesis& fastest) {
  if (slowest.tempo == slowest_ && fastest.tempo == fastest_) return;
  slowest_ = slowest.tempo;
  fastest_ = fastest.tempo;
  pairs_.clear();
  for (std::uint32_t i = 0; i < peaks_.size(); ++i) {
    for (std::uint32_t j = i + 1; j < peaks_.size(); ++j) {
      const double shortest = warped(j, slowest) - warped(i, slowest);
      if (shortest > Profile::max_dt_s) break;
      const double longest = warped(j, fastest) - warped(i, fastest);
      if (longest < Profile::min_dt_s) continue;
      const ProbeTime first(std::max(shortest, Profile::min_dt_s), soft_.dt);
      const ProbeTime last(std::min(longest, Profile::max_dt_s), soft_.dt);
      pairs_.push_back({i, j, static_cast<std::uint32_t>(first.first),
                        static_cast<std::uint32_t>(last.first + last.count - first.first)});
    }
  }
}

void Sweep::sweep(const IndexShard& shard, const Group& group) {
  pair_up(group.hypotheses.front(), group.hypotheses.back());
  u_.clear();
  bins_.clear();
  for (const Peak& peak : peaks_) {
    const ProbePeak warped = warp(peak, origin_s_, group.hypotheses.front(), soft_.u);
    u_.push_back(warped.u);
    bins_.push_back(warped.bins);
  }
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    if (!in_zone(Profile::min_dt_s, u_[pair.anchor], u_[pair.target])) continue;
    const SoftBin anchors = fitting(bins_[pair.anchor]);
    const SoftBin targets = bins_[pair.target];
    for (int a = anchors.first; a <= anchors.last; ++a) {
      for (int b = targets.first; b <= targets.last; ++b)
        lookups_.push_back({pack(a, b - a, static_cast<int>(pair.first)), pair.count, i});
    }
    if (lookups_.size() + 4 > ShardLookup::kBatch) flush(shard, group);
  }
  flush(shard, group);
}

void Sweep::flush(const IndexShard& shard, const Group& group) {
  const ShardLookup found(shard, lookups_);
  for (std::uint64_t rest = found.answers(); rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    const Pair& pair = pairs_[lookups_[i].pair];
    found.for_each(i,
                   [&](std::uint32_t hash, std::uint32_t unit) { vote(group, pair, hash, unit); });
  }
  lookups_.clear();
}

/// A posting votes under each tempo that would have asked for its hash.
void Sweep::vote(const Group& group, const Pair& pair, std::uint32_t hash, std::uint32_t unit) {
  const int bin = static_cast<int>(hash & kMaxDt);
  const double dt = peaks_[pair.target].time_s - peaks_[pair.anchor].time_s;
  // Where that can be; a little wider than it is, because what follows is exact.
  const double per_dt = Profile::dt_unit_s / dt;
  const double lowest = (bin - soft_.dt) * per_dt * (1 - 1e-9);
  const double highest = (bin + 1 + soft_.dt) * per_dt * (1 + 1e-9);
  for (std::size_t i = 0; i < group.hypotheses.size(); ++i) {
    const Hypothesis& hypothesis = group.hypotheses[i];
    if (hypothesis.tempo < lowest) continue;
    if (hypothesis.tempo > highest) break;
    const double anchor_s = warped(pair.anchor, hypothesis);
    const double difference = warped(pair.target, hypothesis) - anchor_s;
    if (difference > Profile::max_dt_s || difference < Profile::min_dt_s) continue;
    const ProbeTime time(difference, soft_.dt);
    if (bin < time.first || bin >= time.first + time.count) continue;
    counters_[i].add(VoteClock::counter(unit, anchor_step(anchor_s)));
  }
}

}  // namespace spintag::fingerprint
