// tests/unit/kernels/cuda_linear_scaling_test.cpp - linear scaling on a CUDA device gives the
// definition's hits, and the processor's levels.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/linear_scaling.h"
#include "tests/unit/cuda_test.h"

namespace spintag::kernels {
namespace {

using Samples = std::vector<float>;

class CudaLinearScaling : public CudaTest {
 protected:
  int in_range(int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random_);
  }
  Samples samples(std::size_t count, int largest = kLargestScaledSample) {
    Samples made(count);
    for (float& sample : made) sample = static_cast<float>(in_range(-largest, largest));
    return made;
  }
  /// About one sample in `every` is a start.
  void add(std::size_t length, int every, int largest = kLargestScaledSample) {
    std::vector<std::uint32_t> starts;
    for (std::uint32_t s = 0; s < length; ++s) {
      if (in_range(1, every) == 1) starts.push_back(s);
    }
    sequences_.add(samples(length, largest), starts);
  }
  void expect_the_definition(const std::vector<Samples>& queries, const ScalingParams& params) {
    std::vector<std::uint32_t> all(sequences_.size());
    std::iota(all.begin(), all.end(), 0U);
    expect_the_definition(queries, all, params);
  }
  void expect_the_definition(const std::vector<Samples>& queries,
                             const std::vector<std::uint32_t>& numbers,
                             const ScalingParams& params) {
    const ResidentSequences on_device(cuda_, sequences_);
    const auto hits = linear_scaling(cuda_, on_device, queries, numbers, params);
    EXPECT_EQ(hits, serial_linear_scaling(sequences_, queries, numbers, params))
        << queries.size() << " queries, overhang " << params.overhang;
    EXPECT_EQ(median_levels(cuda_, on_device, queries, hits),
              median_levels(cpu_, {cpu_, sequences_}, queries, hits));
  }

  std::mt19937 random_{11};
  ScalingSequences sequences_;
};

TEST_F(CudaLinearScaling, EveryLengthGivesTheDefinition) {
  for (std::size_t length = 1; length <= 70; ++length) sequences_.add(samples(length));
  for (const std::size_t length : {127, 128, 129, 700, 3000}) sequences_.add(samples(length));
  std::vector<Samples> queries = {{}};
  for (const std::size_t length : {2, 3, 31, 32, 33, 64, 254, 255}) {
    queries.push_back(samples(length));
  }
  for (const double overhang : {0.0, 0.1, 0.5}) {
    expect_the_definition(queries, {.hits_per_sequence = 5, .overhang = overhang});
  }
  expect_the_definition({samples(1)}, {});  // at distance 0 of everything
  expect_the_definition({samples(2)}, {.hits_per_sequence = 1});
  expect_the_definition({samples(255)}, {.overhang = 1});  // of which nothing has to lie inside
}

TEST_F(CudaLinearScaling, GivenStartsGiveTheDefinition) {
  for (int i = 0; i < 40; ++i) {
    add(static_cast<std::size_t>(in_range(1, 600)), 1 + i % 5);
  }
  add(300, 1'000'000);  // hardly any
  sequences_.add(samples(50), {});
  for (int i = 0; i < 6; ++i) {
    std::vector<Samples> queries;
    for (int scale = 0; scale < 15; ++scale) {
      queries.push_back(samples(static_cast<std::size_t>(in_range(1, 255))));
    }
    expect_the_definition(queries, {.hits_per_sequence = static_cast<std::size_t>(i)});
  }
}

TEST_F(CudaLinearScaling, AnyNumberOfQueriesGivesTheDefinition) {
  for (int i = 0; i < 20; ++i) add(static_cast<std::size_t>(in_range(50, 300)), 3);
  for (const int count : {0, 1, 2, 15, 16, 17, 40}) {
    std::vector<Samples> queries;
    for (int scale = 0; scale < count; ++scale) {
      queries.push_back(samples(static_cast<std::size_t>(in_range(0, 90))));
    }
    expect_the_definition(queries, {});
  }
}

TEST_F(CudaLinearScaling, TiesGoToTheLowerQueryAndTheEarlierStart) {
  for (int i = 0; i < 20; ++i) add(static_cast<std::size_t>(in_range(1, 200)), 2, i % 3);
  const std::vector<Samples> queries = {Samples(20, 7), Samples(12, 1), samples(12, 1),
                                        samples(12, 1), Samples(12, 1), Samples(5, 0)};
  expect_the_definition(queries, {.hits_per_sequence = 7});
}

TEST_F(CudaLinearScaling, LooksAtTheSequencesAskedForInTheirOrder) {
  for (int i = 0; i < 30; ++i) add(static_cast<std::size_t>(in_range(50, 300)), 3);
  const std::vector<Samples> queries = {samples(20), samples(30)};
  expect_the_definition(queries, {29, 3, 4, 11}, {});
  expect_the_definition(queries, std::vector<std::uint32_t>{}, {});
}

TEST_F(CudaLinearScaling, RefusesAQueryThatIsTooLong) {
  add(50, 1);
  const ResidentSequences on_device(cuda_, sequences_);
  const std::vector<Samples> queries = {Samples(kLongestScaledQuery + 1)};
  const std::vector<std::uint32_t> first = {0};
  EXPECT_THROW(linear_scaling(cuda_, on_device, queries, first), std::invalid_argument);
  EXPECT_THROW(median_levels(cuda_, on_device, queries, {}), std::invalid_argument);
}

}  // namespace
}  // namespace spintag::kernels
