// fingerprint/sweep.cpp - ranges of hashes looked up in batches, votes counted tempo by tempo.
#include "fingerprint/sweep.h"

#include <algorithm>
#include <bit>
#include <cassert>
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
    look_up(shard, group, how.longest_bucket, fewest());
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
  std::size_t count = 0;
  std::uint32_t end = 0;  // of the peaks that are not too late
  for (std::uint32_t i = 0; i < peaks_.size(); ++i) {
    while (end < peaks_.size() && peaks_[end].time_s - peaks_[i].time_s <= longest_s) ++end;
    if (near_.size() < count + end - i) near_.resize(2 * (count + end - i));
    for (std::uint32_t j = i + 1; j < end; ++j) {
      near_[count] = {i, j};  // stays only if it is counted: no branch could be foretold
      const bool late_enough = peaks_[j].time_s - peaks_[i].time_s >= shortest_s;
      const bool far_enough = std::abs(widest[j] - widest[i]) >= Profile::min_du - kRounding;
      const bool near = std::abs(narrowest[j] - narrowest[i]) <= Profile::max_du + kRounding;
      count += static_cast<std::size_t>(late_enough & far_enough & near);
    }
  }
  near_.resize(count);
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
      assert(time.first >= first.first && time.first + time.count <= first.first + count);
      for (int k = 0; k < time.count; ++k)
        masks_[masks + static_cast<std::size_t>(time.first + k - first.first)] |= 1U << i;
    }
  }
}

/// What a group asks for.
void Sweep::sweep(const Group& group) {
  warped_.clear();
  for (const Peak& peak : peaks_)
    warped_.push_back(warp(peak, origin_s_, group.hypotheses.front(), soft_.u));
  lookups_.clear();
  if (group.hypotheses.size() == 1) {
    ask_at_one_tempo();
  } else {
    pair_up(group.hypotheses);
    ask_at_all_tempi();
  }
}

void Sweep::ask_at_one_tempo() {
  for (const Near& near : near_) {
    const ProbePeak& anchor = warped_[near.anchor];
    const ProbePeak& target = warped_[near.target];
    const double dt = target.time_s - anchor.time_s;
    if (dt > Profile::max_dt_s || !in_zone(dt, anchor.u, target.u)) continue;
    const ProbeTime time(dt, soft_.dt);
    ask(anchor, target,
        {static_cast<std::uint32_t>(time.first), 0, time.count, anchor_step(anchor.time_s)});
  }
}

void Sweep::ask_at_all_tempi() {
  const std::size_t middle = tempi_.size() / 2;
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const ProbePeak& anchor = warped_[pair.anchor];
    const ProbePeak& target = warped_[pair.target];
    if (!in_zone(Profile::min_dt_s, anchor.u, target.u)) continue;
    ask(anchor, target, {pair.first, i, pair.count, steps_[pair.anchor * tempi_.size() + middle]});
  }
}

/// Appends `first` for each pair of bins of two peaks.
void Sweep::ask(const ProbePeak& anchor, const ProbePeak& target, Lookup first) {
  const SoftBin anchors = fitting(anchor.bins);
  const int time = static_cast<int>(first.hash);
  for (int a = anchors.first; a <= anchors.last; ++a) {
    for (int b = target.bins.first; b <= target.bins.last; ++b) {
      first.hash = pack(a, b - a, time);
      lookups_.push_back(first);
    }
  }
}

/// Most postings stand alone under every tempo. Those of one place under one tempo lie within a
/// second or two under any other: what stands alone there need not vote.
void Sweep::look_up(const IndexShard& shard, const Group& group, std::uint32_t longest_bucket,
                    std::uint32_t fewest) {
  ShardLookup lookup(shard, longest_bucket);
  if (group.hypotheses.size() == 1) {
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
