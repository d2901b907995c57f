// tests/unit/kernels/warping_test.cpp - warping in lanes against its definition, and that by hand.
#include "kernels/warping.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace spintag::kernels {
namespace {

using Samples = std::vector<std::int16_t>;

/// All of a sequence that stands alone in the array, as it is.
WarpingCandidate all_of(const Samples& reference) {
  const auto count = static_cast<std::uint32_t>(reference.size());
  return {.first = 0, .count = count, .start = 0, .step = 65536, .length = count, .level = 0};
}

std::uint16_t serial(const Samples& reference, const Samples& query,
                     const WarpingParams& params = {}) {
  const std::vector<WarpingCandidate> one = {all_of(reference)};
  return serial_warping_distances(reference, query, one, params).front();
}

std::vector<std::uint16_t> in_lanes(const Samples& references, const Samples& query,
                                    const std::vector<WarpingCandidate>& candidates,
                                    const WarpingParams& params = {}) {
  Device device = Device::cpu();
  return warping_distances(device, {device, references}, query, candidates, params);
}

TEST(Warping, DefinitionFindsThePathThatIsFoundByHand) {
  // Costs, query 10 20 40 down and reference 12 10 30 40 across:
  //    2   0  20  30        D row 0:   2   0  20  30
  //    8  10  10  20        D row 1: far  12  10  20
  //   28  30  10   0        D row 2: far  32  12  10
  // D(1,1) = 10 + D(0,0); D(1,2) = 10 + D(0,1); D(1,3) = 20 + min(D(0,2), D(0,1)) = 20;
  // D(2,1) = 30 + D(0,0); D(2,2) = 10 + min(D(0,1), D(1,1)) = 10; D(2,3) = 0 + D(1,2) = 10.
  EXPECT_EQ(serial({12, 10, 30, 40}, {10, 20, 40}), 10);
}

TEST(Warping, StepsPassOverOneElementOfEither) {
  // The query at double speed, then at half: each path meets only equal elements.
  EXPECT_EQ(serial({10, 99, 20, 99, 30}, {10, 20, 30}), 0);
  EXPECT_EQ(serial({10, 20, 30}, {10, 99, 20, 99, 30}), 0);
  // Three for one is too steep: one of the two between is met.
  EXPECT_EQ(serial({10, 20, 20}, {10, 99, 99, 20}), 79);
}

TEST(Warping, PassingOverAnElementOfTheQueryIsPaidTwice) {
  EXPECT_EQ(serial({10, 20}, {10, 99, 23}), 2 * 3);
  EXPECT_EQ(serial({10, 99, 23}, {10, 20}), 3);  // over one of the reference, once
}

TEST(Warping, PassingOverTheQueryCostsOnlyIfSkipsPay) {
  // 10 meets 10 and 23 meets 20; 99 between them is passed over, at the cost of 3 once more or not.
  EXPECT_EQ(serial({10, 20}, {10, 99, 23}), 6);
  EXPECT_EQ(serial({10, 20}, {10, 99, 23}, {.skips_pay = false}), 3);
}

TEST(Warping, CandidateThatIsTooLongIsRefused) {
  const Samples references = {1, 2, 3};
  const std::vector<WarpingCandidate> long_one = {
      {.first = 0, .count = 3, .start = 0, .step = 65536, .length = 65536, .level = 0}};
  EXPECT_THROW(serial_warping_distances(references, references, long_one), std::invalid_argument);
  EXPECT_THROW(in_lanes(references, references, long_one), std::invalid_argument);
}

TEST(Warping, BeginsAndEndsAnywhere) {
  EXPECT_EQ(serial({900, 800, 10, 20, 30, 700}, {10, 20, 30}), 0);
  EXPECT_EQ(serial({10, 20, 30, 700}, {10, 20, 30}), 0);
  EXPECT_EQ(serial({700, 10, 20, 30}, {10, 20, 30}), 0);
}

TEST(Warping, OneElementIsComparedWithTheNearest) {
  EXPECT_EQ(serial({50}, {53}), 3);
  EXPECT_EQ(serial({50, 54, 60}, {53}), 1);
}

TEST(Warping, TwoElementsTakeNeighboursOrPassOverOne) {
  EXPECT_EQ(serial({10, 20}, {11, 22}), 3);      // D(0,0) + d(1,1)
  EXPECT_EQ(serial({10, 70, 20}, {11, 22}), 3);  // D(0,0) + d(1,2)
}

TEST(Warping, TooShortForHalfTheQueryIsNoPath) {
  EXPECT_EQ(serial({7}, {7, 7}), kNoPath);           // a step always goes forward in both
  EXPECT_EQ(serial({7, 7}, {7, 7, 7}), 0);           // 3 by passing over one
  EXPECT_EQ(serial({7, 7}, {7, 7, 7, 7}), kNoPath);  // at most 3 of 4 in two columns
  EXPECT_EQ(serial({7, 7}, {}), kNoPath);
  EXPECT_EQ(serial({}, {7}), kNoPath);
}

TEST(Warping, ACellCostsNoMoreThanTheCap) {
  EXPECT_EQ(serial({0}, {5000}, {.cap = 400}), 400);
  EXPECT_EQ(serial({0, 0}, {5000, 3}, {.cap = 400}), 403);
}

TEST(Warping, ASumThatLeavesTheRangeIsNoPath) {
  const Samples silence(200, 0);
  const Samples far_away(200, 12000);
  EXPECT_EQ(serial(silence, far_away, {.cap = 300}), 200 * 300);
  EXPECT_EQ(serial(silence, far_away, {.cap = 1000}), kNoPath);
}

TEST(Warping, CandidateIsReadAtItsSpeedFromItsStartAndAtItsLevel) {
  const Samples references = {1, 1, 100, 200, 300, 400, 500, 9, 9};
  // Every second sample from the one before the sequence of 100 to 500, which repeats its first,
  // until beyond its end, where it repeats its last; 7 higher.
  const std::vector<WarpingCandidate> candidates = {
      {.first = 2, .count = 5, .start = -1, .step = 2 * 65536, .length = 5, .level = 7}};
  const Samples query = {107, 207, 407, 507, 507};
  EXPECT_EQ(serial_warping_distances(references, query, candidates).front(), 0);
  EXPECT_EQ(in_lanes(references, query, candidates).front(), 0);
}

class WarpingTwins : public testing::TestWithParam<std::size_t> {};  // rows

TEST_P(WarpingTwins, AgreeOnEverySize) {
  const std::size_t rows = GetParam();
  std::mt19937 random(static_cast<unsigned>(rows));
  const auto in_range = [&](int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
  };
  Samples references(3000);
  for (auto& sample : references) sample = static_cast<std::int16_t>(in_range(4800, 7200));
  for (const std::size_t count : {1U, 2U, 31U, 32U, 33U, 100U}) {
    Samples query(rows);
    for (auto& sample : query) sample = static_cast<std::int16_t>(in_range(4800, 7200));
    std::vector<WarpingCandidate> candidates(count);
    for (WarpingCandidate& candidate : candidates) {
      candidate.first = static_cast<std::uint32_t>(in_range(0, 2000));
      candidate.count = static_cast<std::uint32_t>(in_range(1, 999));
      candidate.start = in_range(-50, 400);
      candidate.step = static_cast<std::uint32_t>(in_range(20'000, 140'000));
      candidate.length = static_cast<std::uint32_t>(in_range(0, static_cast<int>(2 * rows + 2)));
      candidate.level = in_range(-1200, 1200);
    }
    for (const std::uint16_t cap : {std::uint16_t{1}, std::uint16_t{400}, std::uint16_t{3000}}) {
      for (const bool skips_pay : {false, true}) {
        const WarpingParams params{.cap = cap, .skips_pay = skips_pay, .threads = 2};
        EXPECT_EQ(in_lanes(references, query, candidates, params),
                  serial_warping_distances(references, query, candidates, params))
            << count << " candidates, cap " << cap;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, WarpingTwins, testing::Values(0, 1, 2, 3, 4, 17, 64, 250));

}  // namespace
}  // namespace spintag::kernels
