// tests/unit/fingerprint/votes_test.cpp - nominations of a count of votes.
#include "fingerprint/votes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace spintag::fingerprint {
namespace {

/// Nominations of a plain map of counts.
std::vector<Nomination> counted(const std::vector<std::uint32_t>& counters, std::uint32_t fewest,
                                std::size_t most) {
  std::map<std::uint32_t, std::uint32_t> votes;
  for (const std::uint32_t counter : counters) ++votes[counter];
  std::vector<Nomination> nominations;
  for (const auto& [counter, own] : votes) {
    const auto before = counter == 0 ? votes.end() : votes.find(counter - 1);
    const std::uint32_t sum = own + (before == votes.end() ? 0 : before->second);
    if (sum >= fewest) nominations.push_back(VoteClock::nomination(counter, own, sum));
  }
  std::stable_sort(nominations.begin(), nominations.end(),
                   [](const Nomination& a, const Nomination& b) { return a.votes > b.votes; });
  nominations.resize(std::min(most, nominations.size()));
  return nominations;
}

TEST(Votes, NominationsAreThoseOfAPlainCount) {
  VoteCounter counter;
  for (std::uint32_t seed = 0; seed < 18; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 generator(seed);
    const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
    const std::uint32_t range = seed % 3 == 0 ? 3000 : seed % 3 == 1 ? 1U << 20 : 0xFFFFFFF0U;
    std::vector<std::uint32_t> counters(random() % 20'000);
    for (std::uint32_t& one : counters) one = random() % range;
    for (int cluster = 0; cluster < 20; ++cluster) {  // songs: two neighbours, with a few or many
      const std::uint32_t at = cluster == 0 ? 0 : random() % range;
      counters.insert(counters.end(), random() % (cluster < 3 ? 600 : 8), at);
      counters.insert(counters.end(), random() % (cluster == 1 ? 300 : 4), at + 1);
    }
    std::shuffle(counters.begin(), counters.end(), generator);
    for (const std::uint32_t fewest : {1U, 2U, 3U, 7U, 255U, 256U, 400U}) {
      for (const std::size_t most : {0, 5, 1'000'000}) {
        for (const std::uint32_t one : counters) counter.add(one);
        const std::vector<Nomination> found = counter.nominate(fewest, most);
        const auto expected = counted(counters, fewest, most);
        ASSERT_EQ(found.size(), expected.size()) << "at least " << fewest;
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].votes, expected[i].votes) << i;
          ASSERT_EQ(found[i].offset_s, expected[i].offset_s) << i;
        }
      }
    }
    EXPECT_TRUE(counter.nominate(1, 10).empty()) << "votes of the search before";
  }
}

TEST(Votes, CountersThatShareAPlaceInATableAreStillTold) {
  // Neighbours at the ends of any table of 2^12 places or more, and counters 2^k apart.
  std::vector<std::uint32_t> counters;
  for (std::uint32_t k = 12; k < 28; ++k) {
    counters.insert(counters.end(), 2, 1U << k);
    counters.push_back((1U << k) - 1);
    counters.push_back((1U << k) + 77);
  }
  VoteCounter counter;
  for (const std::uint32_t one : counters) counter.add(one);
  const std::vector<Nomination> found = counter.nominate(3, 100);
  EXPECT_EQ(found.size(), 16U);
  for (const Nomination& nomination : found) EXPECT_EQ(nomination.votes, 3U);
}

}  // namespace
}  // namespace spintag::fingerprint
