// tests/unit/kernels/linear_scaling_test.cpp - queries as lanes against the definition, and that by
// hand.
#include "kernels/linear_scaling.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace spintag::kernels {
namespace {

using Samples = std::vector<float>;

std::vector<std::uint32_t> all(const ScalingSequences& sequences) {
  std::vector<std::uint32_t> numbers(sequences.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

std::vector<ScalingHit> serial(const ScalingSequences& sequences,
                               const std::vector<Samples>& queries,
                               const ScalingParams& params = {}) {
  return serial_linear_scaling(sequences, queries, all(sequences), params);
}

TEST(LinearScaling, DefinitionGivesTheDistanceThatIsFoundByHand) {
  ScalingSequences sequences;
  sequences.add(Samples{0, 4, 2});
  // Differences 1, -1, 3 less their mean of 1: (0 + 4 + 4) / 3.
  const auto hits = serial(sequences, {{1, 3, 5}}, {.hits_per_sequence = 1, .overhang = 0});
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_DOUBLE_EQ(hits[0].distance, 8.0 / 3);
  EXPECT_EQ(hits[0].start, 0U);
}

TEST(LinearScaling, FindsAStretchAtItsScaleWhateverTheLevel) {
  ScalingSequences sequences;
  sequences.add(Samples{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5});
  sequences.add(Samples{0, 0, 8, 3, 6, 1, 9, 9, 2, 2, 2, 2});
  const std::vector<Samples> queries = {{108, 108, 103, 103, 106, 106}, {108, 103, 106, 101, 109}};
  const auto hits = serial(sequences, queries, {.hits_per_sequence = 1});
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_GT(hits[0].distance, 0);
  EXPECT_EQ(hits[1], (ScalingHit{0, 1, 2, 1}));
}

TEST(LinearScaling, QueryMayOutlastTheSequenceByTheOverhang) {
  ScalingSequences sequences;
  sequences.add(Samples{7, 7, 7, 0, 4, 2});
  const std::vector<Samples> queries = {{0, 4, 2, 2}};
  EXPECT_EQ(serial(sequences, queries, {.hits_per_sequence = 1, .overhang = 0.25}).front(),
            (ScalingHit{0, 0, 3, 0}));
  EXPECT_GT(serial(sequences, queries, {.hits_per_sequence = 1, .overhang = 0}).front().distance,
            0);
}

TEST(LinearScaling, GivesMinimaAlongTheStartsOnly) {
  ScalingSequences sequences;
  sequences.add(Samples{0, 9, 0, 0, 0, 9, 0, 0});
  const auto hits = serial(sequences, {{0, 9, 0}}, {.hits_per_sequence = 8, .overhang = 0});
  ASSERT_GE(hits.size(), 2U);
  EXPECT_EQ(hits[0], (ScalingHit{0, 0, 0, 0}));
  EXPECT_EQ(hits[1], (ScalingHit{0, 0, 4, 0}));
  for (std::size_t i = 1; i < hits.size(); ++i) EXPECT_LE(hits[i - 1].distance, hits[i].distance);
}

TEST(LinearScaling, TriesTheStartsThatAreGivenOnly) {
  const Samples samples = {0, 9, 0, 0, 0, 9, 0, 0};
  const std::vector<Samples> queries = {{0, 9, 0}};
  ScalingSequences sequences;
  sequences.add(samples, std::vector<std::uint32_t>{1, 4});
  sequences.add(samples, std::vector<std::uint32_t>{});
  sequences.add(samples);
  EXPECT_EQ(sequences.starts(0).size(), 2U);
  EXPECT_TRUE(sequences.starts(1).empty());
  EXPECT_EQ(sequences.starts(2).size(), samples.size());
  const auto hits = serial(sequences, queries, {.hits_per_sequence = 1, .overhang = 0});
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0], (ScalingHit{0, 0, 4, 0}));
  EXPECT_EQ(hits[1], (ScalingHit{0, 2, 0, 0}));
}

TEST(LinearScaling, StartsBeforeAndAfterAreThoseOfTheList) {
  // Nine times the distances at samples 0 to 5: 0, 486, 162, 486, 0, 486.
  const Samples samples = {0, 9, 0, 0, 0, 9, 0, 0};
  const std::vector<Samples> queries = {{0, 9, 0}};
  using Positions = std::vector<std::uint32_t>;
  const auto hits_at = [&](const Positions& starts) {
    ScalingSequences sequences;
    sequences.add(samples, starts);
    Positions positions;
    for (const ScalingHit& hit : serial(sequences, queries, {.overhang = 0})) {
      positions.push_back(hit.start);
    }
    return positions;
  };
  EXPECT_EQ(hits_at({0, 1, 2, 3}), (Positions{0, 2}));
  EXPECT_EQ(hits_at({0, 2, 3}), (Positions{0}));
  EXPECT_EQ(hits_at({1, 3, 5}), (Positions{1}));  // equals: the first of them
  EXPECT_EQ(hits_at({2, 4, 7}), (Positions{4}));  // the query has no room at 7
}

TEST(LinearScaling, SequenceShorterThanEveryQueryHasNoHits) {
  ScalingSequences sequences;
  sequences.add(Samples{1, 2});
  EXPECT_TRUE(serial(sequences, {{1, 2, 3, 4}}).empty());
  EXPECT_TRUE(serial(sequences, {{}}).empty());
}

TEST(LinearScaling, RefusesWhatItCannotAddUpExactly) {
  ScalingSequences sequences;
  sequences.add(Samples{1, 2});
  Device device = Device::cpu();
  const std::vector<Samples> queries = {Samples(kLongestScaledQuery + 1)};
  const auto numbers = all(sequences);
  EXPECT_THROW(linear_scaling(device, {device, sequences}, queries, numbers),
               std::invalid_argument);
  EXPECT_THROW(sequences.add({}), std::invalid_argument);
  using Starts = std::vector<std::uint32_t>;
  EXPECT_THROW(sequences.add(Samples{1, 2}, Starts{0, 2}), std::invalid_argument);
  EXPECT_THROW(sequences.add(Samples{1, 2}, Starts{1, 0}), std::invalid_argument);
  EXPECT_THROW(sequences.add(Samples{1, 2}, Starts{1, 1}), std::invalid_argument);
  EXPECT_EQ(sequences.size(), 1U);
  const std::vector<Samples> shorter = {{1, 2}};
  EXPECT_EQ(linear_scaling(device, {device, sequences}, shorter, numbers).size(), 1U);
}

TEST(LinearScaling, TwinsAgreeOnEverySize) {
  std::mt19937 random(5);
  const auto in_range = [&](int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
  };
  ScalingSequences sequences;
  for (int i = 0; i < 60; ++i) {
    Samples samples(static_cast<std::size_t>(in_range(1, i < 30 ? 70 : 700)));
    for (float& sample : samples) {
      sample = static_cast<float>(in_range(-kLargestScaledSample, kLargestScaledSample));
    }
    for (std::size_t at = 1; i % 3 == 2 && at < samples.size(); ++at) {  // notes
      if (in_range(0, 3) > 0) samples[at] = samples[at - 1];
    }
    std::vector<std::uint32_t> starts;
    for (std::uint32_t at = 0; at < samples.size(); ++at) {
      if (i % 2 == 0 || in_range(0, 2) == 0) starts.push_back(at);
    }
    sequences.add(samples, starts);
  }
  std::vector<Samples> queries = {{}};
  for (const std::size_t length :
       {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 63U, 64U, 65U, 66U, 67U, 128U, 254U, 255U}) {
    Samples query(length);
    for (float& sample : query) {
      sample = static_cast<float>(in_range(-kLargestScaledSample, kLargestScaledSample));
    }
    queries.push_back(query);
  }
  queries.erase(queries.begin() + 1);  // a single sample is at distance 0 of everything
  Device device = Device::cpu();
  const auto numbers = all(sequences);
  for (const double overhang : {0.0, 0.1, 0.5}) {
    const ScalingParams params{.hits_per_sequence = 5, .overhang = overhang, .threads = 2};
    EXPECT_EQ(linear_scaling(device, {device, sequences}, queries, numbers, params),
              serial_linear_scaling(sequences, queries, numbers, params));
  }
}

}  // namespace
}  // namespace spintag::kernels
