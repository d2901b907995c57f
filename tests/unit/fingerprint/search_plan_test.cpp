// tests/unit/fingerprint/search_plan_test.cpp - every speed, tempo and pitch that is promised lies
// within reach of a hypothesis; the pool keeps the best whatever the order.
#include "fingerprint/search_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <tuple>

#include "fingerprint/fit_sums.h"
#include "fingerprint/nomination_pool.h"
#include "fingerprint/verification_math.h"

namespace spintag::fingerprint {
namespace {

constexpr double kHour = 3600;

/// Whether verification would come from some hypothesis to this tempo and pitch.
bool within_reach(std::span<const Hypothesis> hypotheses, double tempo, double pitch) {
  return std::any_of(hypotheses.begin(), hypotheses.end(), [&](const Hypothesis& h) {
    return std::abs(tempo / h.tempo - 1) <= verification::kTempoReach &&
           std::abs(pitch / h.pitch - 1) <= verification::kPitchReach;
  });
}

std::vector<Hypothesis> all_hypotheses() {
  std::vector<Hypothesis> all;
  for (const Search& search : searches_of({}, kHour))
    all.insert(all.end(), search.hypotheses.begin(), search.hypotheses.end());
  return all;
}

double ratio(double semitones) { return std::exp2(semitones / 12); }

TEST(SearchPlan, EveryTempoWithEveryPitchIsWithinReachOfTheGrid) {
  const auto grid = full_grid();
  for (double percent = -12; percent <= 12.001; percent += 0.25) {
    for (double semitones = -3; semitones <= 3.001; semitones += 0.05) {
      ASSERT_TRUE(within_reach(grid, 1 + percent / 100, ratio(semitones)))
          << percent << " %, " << semitones << " semitones";
    }
  }
}

TEST(SearchPlan, EverySpeedIsWithinReachOfTheLineAlone) {
  const auto line = speed_line();
  for (double percent = -10; percent <= 10.001; percent += 0.05) {
    ASSERT_TRUE(within_reach(line, 1 + percent / 100, 1 + percent / 100)) << percent << " %";
  }
  for (const Hypothesis& h : line) EXPECT_EQ(h.tempo, h.pitch);
}

TEST(SearchPlan, LinesKeepPitchOrTempoAndReachAsFarAsTheGrid) {
  const auto tempi = tempo_line();
  for (const Hypothesis& h : tempi) EXPECT_EQ(h.pitch, 1);
  for (double percent = -12; percent <= 12.001; percent += 0.05)
    ASSERT_TRUE(within_reach(tempi, 1 + percent / 100, 1)) << percent << " %";
  const auto pitches = pitch_line();
  for (const Hypothesis& h : pitches) EXPECT_EQ(h.tempo, 1);
  for (double semitones = -3; semitones <= 3.001; semitones += 0.02)
    ASSERT_TRUE(within_reach(pitches, 1, ratio(semitones))) << semitones << " semitones";
}

TEST(SearchPlan, SearchesOfASmallCatalogueReachEverythingPromised) {
  const auto all = all_hypotheses();
  for (double percent = -12; percent <= 12.001; percent += 1) {
    for (double semitones = -3; semitones <= 3.001; semitones += 0.25)
      ASSERT_TRUE(within_reach(all, 1 + percent / 100, ratio(semitones)));
  }
}

/// Whether some search asks at least as much about a hypothesis as `look` does.
bool asks_as_much(std::span<const Search> searches, const Hypothesis& hypothesis,
                  const Search& look) {
  return std::any_of(searches.begin(), searches.end(), [&](const Search& search) {
    return search.peaks_per_s >= look.peaks_per_s && search.soft.u >= look.soft.u &&
           search.soft.dt >= look.soft.dt && search.longest_bucket >= look.longest_bucket &&
           std::any_of(search.hypotheses.begin(), search.hypotheses.end(),
                       [&](const Hypothesis& other) {
                         return other.tempo == hypothesis.tempo && other.pitch == hypothesis.pitch;
                       });
  });
}

TEST(SearchPlan, LargerCataloguesAreAskedNoMoreAndAlwaysSomething) {
  MatchOptions options;
  auto smaller = searches_of(options, kHour);
  for (double hours = 1; hours < 1e8; hours *= 1.5) {
    options.any_speed = true;
    const auto searches = searches_of(options, hours * kHour);
    ASSERT_FALSE(searches.empty());
    EXPECT_EQ(searches.front().hypotheses.size(), options.hypotheses.size());
    for (const Search& look : searches) {
      for (const Hypothesis& hypothesis : look.hypotheses)
        ASSERT_TRUE(asks_as_much(smaller, hypothesis, look)) << hours << " h";
    }
    smaller = searches;
    options.any_speed = false;
    EXPECT_LE(searches_of(options, hours * kHour).size(), searches.size());
  }
  EXPECT_LT(smaller.size(), 4U);
}

TEST(SearchPlan, RareHashesAreAskedFirst) {
  for (const double hours : {1.0, 1e4, 1e6}) {
    const auto searches = searches_of({.any_speed = false}, hours * kHour);
    ASSERT_GE(searches.size(), 2U);
    EXPECT_LT(searches[0].longest_bucket, searches[1].longest_bucket);
    EXPECT_LT(searches[0].soft.u, searches[1].soft.u);
  }
}

TEST(SearchPlan, AHundredThousandSongsAreStillAskedEverything) {
  const auto searches = searches_of({}, 6'671 * kHour);
  std::vector<Hypothesis> all;
  for (const Search& search : searches)
    all.insert(all.end(), search.hypotheses.begin(), search.hypotheses.end());
  for (double percent = -12; percent <= 12.001; percent += 1) {
    for (double semitones = -3; semitones <= 3.001; semitones += 0.25)
      ASSERT_TRUE(within_reach(all, 1 + percent / 100, ratio(semitones)));
  }
  for (const Search& search : searches)  // long buckets are for the few strongest peaks
    EXPECT_TRUE(search.peaks_per_s <= 14 || search.longest_bucket <= 1024) << search.peaks_per_s;
}

TEST(SearchPlan, WhatIsFarFromThePromiseIsOutOfReach) {
  const auto all = all_hypotheses();
  EXPECT_FALSE(within_reach(all, 1.2, 1));
  EXPECT_FALSE(within_reach(all, 1, ratio(5)));
  EXPECT_FALSE(within_reach(all, 0.8, 0.8));
}

TEST(SearchPlan, LikelySpeedsAreAskedFirstAndAloneIfNoOtherIsWanted) {
  MatchOptions options;
  options.hypotheses = {{1, 1}, {1.03, 1.03}};
  options.any_speed = false;
  const auto usual = searches_of(options, kHour);
  ASSERT_FALSE(usual.empty());
  for (const Search& search : usual) {
    ASSERT_EQ(search.hypotheses.size(), 2U);
    EXPECT_EQ(search.hypotheses[1].tempo, 1.03);
  }
  options.any_speed = true;
  const auto wide = searches_of(options, kHour);
  ASSERT_GT(wide.size(), usual.size());
  for (std::size_t i = 0; i < usual.size(); ++i) {
    EXPECT_EQ(wide[i].hypotheses.size(), usual[i].hypotheses.size());
    EXPECT_EQ(wide[i].peaks_per_s, usual[i].peaks_per_s);
  }
}

TEST(SearchPlan, EverySearchAsksSomethingThatTheDeviceCanAnswer) {
  for (const Search& search : searches_of({}, kHour)) {
    EXPECT_GT(search.peaks_per_s, 0);
    EXPECT_GT(search.pooled, 0U);
    EXPECT_GT(search.nominations, 0U);
    EXPECT_LE(search.nominations, 64U) << "what a device nominates of a window";
    EXPECT_LT(search.soft.u, 0.5);
    EXPECT_LT(search.soft.dt, 0.5);
  }
}

TEST(SearchPlan, TempiOfAPitchLieTogetherAndRise) {
  const auto grid = full_grid();
  std::vector<double> pitches;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (i == 0 || grid[i].pitch != grid[i - 1].pitch) {
      EXPECT_EQ(std::count(pitches.begin(), pitches.end(), grid[i].pitch), 0) << "comes back";
      pitches.push_back(grid[i].pitch);
    } else {
      EXPECT_GT(grid[i].tempo, grid[i - 1].tempo);
    }
  }
  EXPECT_EQ(pitches.front(), 1);
  const auto change = [](double pitch) { return std::abs(std::log(pitch)); };
  for (std::size_t i = 1; i < pitches.size(); ++i)
    EXPECT_GT(change(pitches[i]), change(pitches[i - 1]) - 1e-12) << "from small to large";
}

auto as_tuple(const Nominated& n) {
  return std::tuple(-static_cast<std::int64_t>(n.place.votes), n.hypothesis, n.shard,
                    n.place.offset_s);
}

TEST(NominationPool, KeepsTheBestInOrderHoweverTheyCome) {
  std::mt19937 random(4);
  std::vector<Nominated> all;
  for (std::uint32_t hypothesis = 0; hypothesis < 6; ++hypothesis) {
    for (std::uint32_t shard = 0; shard < 3; ++shard) {
      for (int place = 0; place < 8; ++place)  // few different votes: most are equals
        all.push_back(
            {{0.5 * place, 3 + static_cast<std::uint32_t>(random() % 3)}, hypothesis, shard});
    }
  }
  std::vector<Nominated> sorted = all;
  std::sort(sorted.begin(), sorted.end(),
            [](const Nominated& a, const Nominated& b) { return as_tuple(a) < as_tuple(b); });
  NominationPool pool;
  for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{17},
                                 all.size() - 1, all.size(), all.size() + 5}) {
    for (int order = 0; order < 10; ++order) {
      std::shuffle(all.begin(), all.end(), random);
      pool.reset(most);
      for (const Nominated& one : all) {
        // What has fewer votes than it asks for may be left out.
        if (order % 2 == 0 || one.place.votes >= pool.fewest()) pool.add(one);
      }
      const auto kept = pool.take();
      ASSERT_EQ(kept.size(), std::min(most, all.size()));
      for (std::size_t i = 0; i < kept.size(); ++i)
        ASSERT_EQ(as_tuple(kept[i]), as_tuple(sorted[i])) << most << " kept, place " << i;
    }
  }
}

TEST(NominationPool, AsksForFewVotesUntilItIsFullAndIsEmptyAfterTaking) {
  NominationPool pool;
  pool.reset(2);
  EXPECT_EQ(pool.fewest(), 0U);
  pool.add({{1, 9}, 0, 0});
  EXPECT_EQ(pool.fewest(), 0U);
  pool.add({{2, 7}, 0, 0});
  EXPECT_EQ(pool.fewest(), 7U);
  pool.add({{3, 8}, 0, 0});
  EXPECT_EQ(pool.fewest(), 8U);
  EXPECT_EQ(pool.take().size(), 2U);
  EXPECT_TRUE(pool.take().empty());
  EXPECT_EQ(pool.fewest(), 0U);
}

}  // namespace
}  // namespace spintag::fingerprint
