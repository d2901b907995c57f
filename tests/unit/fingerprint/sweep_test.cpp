// tests/unit/fingerprint/sweep_test.cpp - many hypotheses looked up together nominate what each
// nominates by itself; batched lookups meet the postings of single ones; no vote is lost.
#include "fingerprint/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "fingerprint/landmarks.h"
#include "fingerprint/peak_order.h"
#include "fingerprint/query_view.h"
#include "fingerprint/reference.h"
#include "fingerprint/shard_lookup.h"

namespace spintag::fingerprint {
namespace {

double uniform(std::mt19937& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
}

/// Peaks on a few dozen tones, so that hashes are shared as those of music are.
std::vector<Peak> song_peaks(std::uint32_t seed, double seconds) {
  constexpr std::uint32_t kTones = 40;
  std::mt19937 random(seed);
  std::vector<Peak> peaks;
  for (double t = 0.05; t < seconds; t += uniform(random, 0.01, 0.05)) {
    const double tone = static_cast<double>(random() % kTones) / kTones;
    peaks.push_back({t, static_cast<float>(300 + 4500 * tone + uniform(random, 0, 3)),
                     static_cast<float>(uniform(random, 4, 24))});
  }
  return peaks;
}

/// Four songs behind so many seconds of nothing: the longer the time line, the fewer keys a bucket.
std::shared_ptr<const Index> songs_behind(double silence_s) {
  std::vector<PackedPeaks> prints;
  std::vector<IndexTrack> tracks{{1, silence_s, {}, ""}};
  for (std::uint32_t i = 0; i < 4; ++i) prints.push_back(make_reference(song_peaks(i, 40)));
  for (std::uint32_t i = 0; i < 4; ++i) tracks.push_back({10 + i, 40, prints[i], ""});
  return Index::build(tracks);
}

/// Shards whose buckets hold thousands of keys, 60 and 7: ranges of the latter spill over buckets.
const std::vector<std::shared_ptr<const Index>>& indexes() {
  static const std::vector<std::shared_ptr<const Index>> made{songs_behind(1), songs_behind(1.4e6),
                                                              songs_behind(1.15e7)};
  return made;
}

void expect_same(const std::vector<Nominated>& found, const std::vector<Nominated>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].place.votes, expected[i].place.votes) << "place " << i;
    ASSERT_EQ(found[i].place.offset_s, expected[i].place.offset_s) << "place " << i;
    ASSERT_EQ(found[i].hypothesis, expected[i].hypothesis) << "place " << i;
    ASSERT_EQ(found[i].shard, expected[i].shard) << "place " << i;
  }
}

/// Hypothesis by hypothesis.
std::vector<Nominated> one_by_one(const IndexShard& shard, std::span<const Peak> peaks,
                                  double origin_s, const Search& how) {
  VoteCounter counter;
  NominationPool pool;
  pool.reset(how.pooled);
  for (std::uint32_t h = 0; h < how.hypotheses.size(); ++h) {
    std::vector<Probe> probes;
    make_query_probes(peaks, origin_s, how.hypotheses[h], how.soft, probes);
    for (const Nomination& place : counter.count(shard, probes, VoteCounter::kFewestVotes,
                                                 how.nominations, how.longest_bucket))
      pool.add({place, h, 5});
  }
  return pool.take();
}

/// @return how many were nominated
std::size_t expect_sweep_is_one_by_one(std::span<const Peak> peaks, double origin_s,
                                       const Search& how) {
  static Sweep sweep;  // its scratch comes from other searches
  std::size_t nominated = 0;
  for (std::size_t i = 0; i < indexes().size(); ++i) {
    SCOPED_TRACE(testing::Message() << "index " << i);
    const IndexShard& shard = *indexes()[i]->shards().at(0);
    NominationPool pool;
    pool.reset(how.pooled);
    sweep.run(shard, 5, peaks, origin_s, how, pool);
    const auto found = pool.take();
    nominated += found.size();
    expect_same(found, one_by_one(shard, peaks, origin_s, how));
  }
  return nominated;
}

/// Five seconds of song 2 played at another tempo and pitch, among others, from `origin_s` on.
std::vector<Peak> heard(double origin_s, const Hypothesis& played, int per_second) {
  std::vector<Peak> query;
  for (const Peak& peak : song_peaks(2, 40)) {
    const double at = (peak.time_s - 12) / played.tempo;
    if (at >= 0 && at < 5)
      query.push_back(
          {origin_s + at, static_cast<float>(peak.freq_hz * played.pitch), peak.salience_db});
  }
  for (Peak peak : song_peaks(77, 5)) {
    peak.time_s += origin_s;
    query.push_back(peak);
  }
  std::sort(query.begin(), query.end(), is_earlier);
  std::vector<Peak> strongest;
  select_strongest(query, origin_s, origin_s + 5, per_second, strongest);
  return strongest;
}

TEST(Sweep, NominatesWhatEveryHypothesisOfThePlanWouldByItself) {
  for (Search how : searches_of({}, 3600)) {
    SCOPED_TRACE(testing::Message() << how.hypotheses.size() << " hypotheses");
    ASSERT_FALSE(how.hypotheses.empty());
    const Hypothesis& played = how.hypotheses[how.hypotheses.size() / 3];
    const auto peaks = heard(33.3, played, std::min(how.peaks_per_s, 30));
    for (const std::size_t pooled : {how.pooled, std::size_t{1}, std::size_t{1'000'000}}) {
      how.pooled = pooled;
      EXPECT_GT(expect_sweep_is_one_by_one(peaks, 33.3, how), 0U);
    }
  }
}

TEST(Sweep, LeavesTheSameBucketsOutAsEveryHypothesisWould) {
  Search how{full_grid(), 20, {0.1, 0.4}, 4, 96};
  const auto peaks = heard(2, {0.96, 1.0048}, 20);
  std::size_t before = 0;
  for (const std::uint32_t longest : {1U, 4U, 12U, 16U, 20U}) {
    how.longest_bucket = longest;
    const std::size_t nominated = expect_sweep_is_one_by_one(peaks, 2, how);
    EXPECT_GE(nominated, before);
    before = nominated;
  }
  EXPECT_GT(before, 0U);
  how.longest_bucket = 0;
  EXPECT_EQ(expect_sweep_is_one_by_one(peaks, 2, how), 0U);
}

/// More tempi than bits of a mask, and a window in which they move an anchor by minutes.
TEST(Sweep, ManyTempiOfALongWindowNominateWhatTheirMembersWould) {
  std::vector<Hypothesis> tempi;
  for (int t = 0; t < 75; ++t) tempi.push_back({0.8 + 0.005 * t, 1});
  std::vector<Peak> peaks = song_peaks(2, 40);
  for (Peak peak : song_peaks(3, 40)) {
    peak.time_s += 180;
    peaks.push_back(peak);
  }
  const Search how{tempi, 40, {0.1, 0.4}, 4, 96};
  EXPECT_GT(expect_sweep_is_one_by_one(peaks, 0, how), 0U);
}

TEST(Sweep, GroupsOfTempiOfAnyShapeNominateWhatTheirMembersWould) {
  const std::vector<std::vector<Hypothesis>> groups{
      {},
      {{1, 1}},
      {{1.043, 0.957}},
      {{1, 1}, {1, 1}},                                    // twice the same
      {{1.1, 1}, {1, 1}, {0.9, 1}},                        // falling: no group
      {{0.9, 1}, {1, 1}, {1.1, 1}, {0.95, 1}, {1.05, 1}},  // two groups of one pitch
      {{1, 1}, {1, 1.01}, {1.02, 1.01}, {1, 1}},
      {{0.5, 0.957}, {1.043, 0.957}, {2, 0.957}},  // further apart than any plan
      {{1.0429999, 0.957}, {1.043, 0.957}, {1.0430001, 0.957}}};
  for (const auto& hypotheses : groups) {
    for (const Softness& soft : {Softness{0.3, 0.3}, Softness{0, 0}, Softness{0.2, 0.49}}) {
      SCOPED_TRACE(testing::Message()
                   << hypotheses.size() << " hypotheses, softness " << soft.u << " " << soft.dt);
      const Search how{hypotheses, 40, soft, 6, 50};
      expect_sweep_is_one_by_one(heard(0, {1.043, 0.957}, 40), 0, how);
    }
  }
}

TEST(Sweep, DifferencesOnTheBoundsOfBinsAndZonesAreNoException) {
  std::mt19937 random(5);  // all times are whole bins, so that every tempo of 1 meets a bound
  std::vector<Peak> peaks;
  for (int i = 0; i < 200; ++i) {
    peaks.push_back({0.016 * static_cast<double>(random() % 320),
                     static_cast<float>(300 + 112.5 * static_cast<double>(random() % 40)), 10});
  }
  std::sort(peaks.begin(), peaks.end(), is_earlier);
  const Search how{{{0.96, 1}, {0.98, 1}, {1, 1}, {1.02, 1}, {1.04, 1}}, 40, {0.2, 0.4}, 8, 60};
  EXPECT_GT(expect_sweep_is_one_by_one(peaks, 0, how), 0U);
}

TEST(Sweep, HoursIntoAQueryNothingIsLostToRounding) {
  const double origin_s = 90'000.7;
  const Search how{full_grid(), 15, {0.2, 0.4}, 4, 96};
  EXPECT_GT(expect_sweep_is_one_by_one(heard(origin_s, {0.93, 1.06}, 15), origin_s, how), 0U);
}

TEST(Sweep, QueryWithoutPairsNominatesNothing) {
  const Search how{full_grid(), 25, {0.2, 0.4}, 4, 96};
  EXPECT_EQ(expect_sweep_is_one_by_one({}, 0, how), 0U);
  const std::vector<Peak> one{{1, 1000, 20}};
  EXPECT_EQ(expect_sweep_is_one_by_one(one, 0, how), 0U);
  const std::vector<Peak> at_once(30, Peak{1, 1000, 20});
  EXPECT_EQ(expect_sweep_is_one_by_one(at_once, 0, how), 0U);
  Search nothing = how;
  nothing.pooled = 0;
  EXPECT_EQ(expect_sweep_is_one_by_one(heard(0, {}, 25), 0, nothing), 0U);
}

/// Hashes to be looked up.
struct Range {
  std::uint32_t hash;
  std::uint32_t count;
};

std::size_t bucket_words(const IndexShard& shard, std::uint32_t hash) {
  const std::uint32_t bucket = shard.place(hash).bucket;
  return shard.arrays().directory[bucket + 1] - shard.arrays().directory[bucket];
}

TEST(ShardLookup, MeetsThePostingsThatSingleLooksMeet) {
  using Postings = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;
  std::vector<Landmark> landmarks;
  for (std::uint32_t song = 0; song < 4; ++song)
    make_reference_landmarks(unpack_peaks(make_reference(song_peaks(song, 40))), landmarks);
  for (std::size_t i = 0; i < indexes().size(); ++i) {
    SCOPED_TRACE(testing::Message() << "index " << i);
    const IndexShard& shard = *indexes()[i]->shards().at(0);
    std::mt19937 generator(6);
    const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
    std::size_t spilled = 0;
    std::size_t met = 0;
    std::size_t left_out = 0;
    for (int batch = 0; batch < 200; ++batch) {
      std::vector<Range> ranges(random() % 100);
      for (Range& range : ranges) {  // half of them near what is there
        const std::uint32_t near = landmarks[random() % landmarks.size()].hash;
        const std::uint32_t hash = random() % 2 == 0 ? near : random() & ((1U << 27) - 1);
        const std::uint32_t back = std::min<std::uint32_t>(random() % 10, hash & 127);
        range = {hash - back, 0};
        range.count = 1 + random() % std::min(40U, 128 - (range.hash & 127));
        spilled += shard.place(range.hash).rest + range.count > shard.keys_per_bucket() ? 1 : 0;
      }
      const std::uint32_t longest = batch % 3 == 0 ? 1 + random() % 20 : kEveryBucket;
      std::vector<Postings> found(ranges.size());
      ShardLookup(shard, longest)
          .for_each(ranges, [&](std::uint32_t r, std::uint32_t hash, std::uint32_t unit) {
            found.at(r).emplace(hash, unit);
          });
      for (std::size_t r = 0; r < ranges.size(); ++r) {
        Postings expected;
        for (std::uint32_t k = 0; k < ranges[r].count; ++k) {
          const std::uint32_t hash = ranges[r].hash + k;
          if (bucket_words(shard, hash) > longest) {
            ++left_out;
            continue;
          }
          shard.for_each_unit(hash, [&](std::uint32_t unit) { expected.emplace(hash, unit); });
        }
        ASSERT_EQ(found[r], expected) << "range " << r;
        met += expected.size();
      }
    }
    EXPECT_GT(met, 1000U);
    EXPECT_GT(spilled, i == 0 ? 0U : 1000U);
    EXPECT_GT(left_out, 100U);
  }
}

}  // namespace
}  // namespace spintag::fingerprint
