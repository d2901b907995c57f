// fingerprint/sweep.cpp - ranges of hashes looked up in batches, votes counted tempo by tempo.
#include "fingerprint/sweep.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fingerprint/profile.h"
#include "fingerprint/shard_lookup.h"

namespace spintag::fingerprint {

using namespace landmark_math;

void Sweep::run(const IndexShard& shard, std::uint32_t shard_number, std::span<const Peak> peaks,
                double origin_s, const Search& how, NominationPool& pool) {
  const std::span<const Hypothesis> all = how.hypotheses;
  if (shard.arrays().units == 0 || all.empty()) return;
  peaks_ = peaks;
  origin_s_ = origin_s;
  soft_ = how.soft;
  tempi_.clear();
  find_near(all);
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first + 1;
    while (end < all.size() && end - first < kMostTogether && all[end].pitch == all[first].pitch &&
           all[end].tempo > all[end - 1].tempo) {
      ++end;
    }
    const Group group{all.subspan(first, end - first), static_cast<std::uint32_t>(first)};
    if (counters_.size() < group.hypotheses.size()) counters_.resize(group.hypotheses.size());
    sweep(group);
    const auto fewest = [&] { return std::max(VoteCounter::kFewestVotes, pool.fewest()); };
    look_up(shard, how.longest_bucket, fewest());
    for (std::size_t i = 0; i < group.hypotheses.size(); ++i) {
      for (const Nomination& place : counters_[i].nominate(fewest(), how.nominations))
        pool.add({place, group.first + static_cast<std::uint32_t>(i), shard_number});
    }
    first = end;
  }
}

/// Two in three pairs are too far apart in frequency at any pitch. A difference in u falls as the
/// pitch rises, so the outermost pitches bound it; what follows is exact.
void Sweep::find_near(std::span<const Hypothesis> all) {
  constexpr double kRounding = 1e-6;
  const auto [low, high] = std::minmax_element(
      all.begin(), all.end(),
      [](const Hypothesis& a, const Hypothesis& b) { return a.pitch < b.pitch; });
  const auto [slow, fast] = std::minmax_element(
      all.begin(), all.end(),
      [](const Hypothesis& a, const Hypothesis& b) { return a.tempo < b.tempo; });
  const double shortest_s = Profile::min_dt_s / fast->tempo - kRounding;
  const double longest_s = Profile::max_dt_s / slow->tempo + kRounding;
  std::vector<double> widest(peaks_.size());
  std::vector<double> narrowest(peaks_.size());
  for (std::size_t i = 0; i < peaks_.size(); ++i) {
    widest[i] = frequency_to_u(peaks_[i].freq_hz / low->pitch);
    narrowest[i] = frequency_to_u(peaks_[i].freq_hz / high->pitch);
  }
  near_.clear();
  for (std::uint32_t i = 0; i < peaks_.size(); ++i) {
    for (std::uint32_t j = i + 1; j < peaks_.size(); ++j) {
      const double dt = peaks_[j].time_s - peaks_[i].time_s;
      if (dt > longest_s) break;
      if (dt < shortest_s || std::abs(widest[j] - widest[i]) < Profile::min_du - kRounding ||
          std::abs(narrowest[j] - narrowest[i]) > Profile::max_du + kRounding) {
        continue;
      }
      near_.push_back({i, j});
    }
  }
}

/// Tempi of one pitch after the other are mostly the same ones, and so are the pairs.
void Sweep::pair_up(std::span<const Hypothesis> group) {
  if (std::equal(group.begin(), group.end(), tempi_.begin(), tempi_.end(),
                 [](const Hypothesis& a, double tempo) { return a.tempo == tempo; })) {
    return;
  }
  tempi_.clear();
  for (const Hypothesis& hypothesis : group) tempi_.push_back(hypothesis.tempo);
  steps_.clear();
  int furthest = 0;  // that an anchor moves with the tempo, in steps
  for (std::uint32_t i = 0; i < peaks_.size(); ++i) {
    for (const Hypothesis& hypothesis : group) steps_.push_back(anchor_step(warped(i, hypothesis)));
    const std::uint16_t* const steps = &steps_[i * group.size()];
    const int middle = steps[group.size() / 2];
    furthest = std::max({furthest, steps[group.size() - 1] - middle, middle - steps[0]});
  }
  // Votes of two neighbouring counters lie within 32 steps under their own tempo, and so much
  // further apart under the middle one: in two neighbouring coarse places at most.
  constexpr unsigned kTwoCounters = 2U << VoteClock::kCounterShift;
  coarse_shift_ = std::bit_width(kTwoCounters - 1 + static_cast<unsigned>(furthest));
  pairs_.clear();
  masks_.clear();
  for (const Near& near : near_) {
    const double shortest = warped(near.target, group.front()) - warped(near.anchor, group.front());
    const double longest = warped(near.target, group.back()) - warped(near.anchor, group.back());
    if (shortest > Profile::max_dt_s || longest < Profile::min_dt_s) continue;
    const ProbeTime first(std::max(shortest, Profile::min_dt_s), soft_.dt);
    const ProbeTime last(std::min(longest, Profile::max_dt_s), soft_.dt);
    const int count = last.first + last.count - first.first;
    const auto masks = static_cast<std::uint32_t>(masks_.size());
    masks_.resize(masks_.size() + static_cast<std::size_t>(count));
    pairs_.push_back({near.anchor, near.target, masks, static_cast<std::uint16_t>(first.first),
                      static_cast<std::uint16_t>(count)});
    for (std::size_t i = 0; i < group.size(); ++i) {
      const double dt = warped(near.target, group[i]) - warped(near.anchor, group[i]);
      if (dt > Profile::max_dt_s || dt < Profile::min_dt_s) continue;
      const ProbeTime time(dt, soft_.dt);
      for (int k = 0; k < time.count; ++k)
        masks_[masks + static_cast<std::size_t>(time.first + k - first.first)] |= 1U << i;
    }
  }
}

/// What a group asks for.
void Sweep::sweep(const Group& group) {
  pair_up(group.hypotheses);
  u_.clear();
  bins_.clear();
  lookups_.clear();
  for (const Peak& peak : peaks_) {
    const ProbePeak warped = warp(peak, origin_s_, group.hypotheses.front(), soft_.u);
    u_.push_back(warped.u);
    bins_.push_back(warped.bins);
  }
  const std::size_t middle = tempi_.size() / 2;
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    if (!in_zone(Profile::min_dt_s, u_[pair.anchor], u_[pair.target])) continue;
    const SoftBin anchors = fitting(bins_[pair.anchor]);
    const SoftBin targets = bins_[pair.target];
    const std::uint16_t step = steps_[pair.anchor * tempi_.size() + middle];
    for (int a = anchors.first; a <= anchors.last; ++a) {
      for (int b = targets.first; b <= targets.last; ++b)
        lookups_.push_back({pack(a, b - a, pair.first), i, pair.count, step});
    }
  }
}

/// Most postings stand alone under every tempo. Those of one place under one tempo lie within a
/// second or two under any other: what stands alone there need not vote.
void Sweep::look_up(const IndexShard& shard, std::uint32_t longest_bucket, std::uint32_t fewest) {
  ShardLookup lookup(shard, longest_bucket);
  if (tempi_.size() == 1) {
    // All that was asked for is asked for by this tempo.
    lookup.for_each(lookups_, [&](std::uint32_t i, std::uint32_t, std::uint32_t unit) {
      counters_[0].add(VoteClock::counter(unit, lookups_[i].step));
    });
    return;
  }
  met_.clear();
  lookup.for_each(lookups_, [&](std::uint32_t i, std::uint32_t hash, std::uint32_t unit) {
    const std::uint64_t step = VoteClock::step(unit, lookups_[i].step);
    met_.push_back({static_cast<std::uint32_t>(step >> coarse_shift_), unit, i, hash});
  });
  lonely_.drop(met_, fewest, [](const Met& met) { return met.place; });
  for (const Met& met : met_) vote(met.lookup, met.hash, met.unit);
}

/// A posting votes under each tempo that would have asked for its hash.
void Sweep::vote(std::uint32_t lookup, std::uint32_t hash, std::uint32_t unit) {
  const Pair& pair = pairs_[lookups_[lookup].pair];
  const std::uint16_t* const steps = &steps_[pair.anchor * tempi_.size()];
  for (std::uint32_t asking = masks_[pair.masks + (hash & kMaxDt) - pair.first]; asking != 0;
       asking &= asking - 1) {
    const auto tempo = static_cast<std::size_t>(std::countr_zero(asking));
    counters_[tempo].add(VoteClock::counter(unit, steps[tempo]));
  }
}

}  // namespace spintag::fingerprint
