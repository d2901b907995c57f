// tests/unit/kernels/cuda_warping_test.cpp - warping on a CUDA device gives the definition's
// integers.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/warping.h"
#include "tests/unit/cuda_test.h"

namespace spintag::kernels {
namespace {

using Samples = std::vector<std::int16_t>;

class CudaWarping : public CudaTest {
 protected:
  int in_range(int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random_);
  }
  Samples samples(std::size_t count, int lowest = 4800, int highest = 7200) {
    Samples made(count);
    for (auto& sample : made) sample = static_cast<std::int16_t>(in_range(lowest, highest));
    return made;
  }
  std::vector<WarpingCandidate> candidates(std::size_t count, int longest) {
    std::vector<WarpingCandidate> made(count);
    for (WarpingCandidate& candidate : made) {
      candidate.first = static_cast<std::uint32_t>(in_range(0, 2000));
      candidate.count = static_cast<std::uint32_t>(in_range(1, 999));
      candidate.start = in_range(-50, 400);
      candidate.step = static_cast<std::uint32_t>(in_range(20'000, 140'000));
      candidate.length = static_cast<std::uint32_t>(in_range(0, longest));
      candidate.level = in_range(-1200, 1200);
    }
    return made;
  }
  void expect_the_definition(const Samples& references, const Samples& query,
                             const std::vector<WarpingCandidate>& all,
                             const WarpingParams& params) {
    for (const bool skips_pay : {false, true}) {
      WarpingParams both = params;
      both.skips_pay = skips_pay;
      EXPECT_EQ(warping_distances(cuda_, {cuda_, references}, query, all, both),
                serial_warping_distances(references, query, all, both))
          << query.size() << " rows, " << all.size() << " candidates, cap " << params.cap;
    }
  }

  std::mt19937 random_{7};
};

TEST_F(CudaWarping, EveryNumberOfRowsGivesTheDefinition) {
  const Samples references = samples(3000);
  for (std::size_t rows = 1; rows <= 270; ++rows) {
    expect_the_definition(references, samples(rows), candidates(5, static_cast<int>(2 * rows + 2)),
                          {.cap = 400});
  }
  for (const std::size_t rows : {271, 300, 333, 400, 511, 512, 513, 700}) {
    expect_the_definition(references, samples(rows), candidates(3, 800), {.cap = 90});
  }
}

TEST_F(CudaWarping, EveryNumberOfCandidatesGivesTheDefinition) {
  const Samples references = samples(3000);
  for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 65, 1000}) {
    for (const std::size_t rows : {1, 2, 16, 37, 250})
      expect_the_definition(references, samples(rows), candidates(count, 300), {});
  }
}

TEST_F(CudaWarping, CapsAndElementsAtTheEndOfTheirRangeGiveTheDefinition) {
  for (const int cap : {1, 2, 399, 1000, 1001, 3000}) {
    const Samples references = samples(3000, -9000, 9000);
    for (const std::size_t rows : {2, 30, 150})
      expect_the_definition(references, samples(rows, -6000, 6000), candidates(40, 300),
                            {.cap = static_cast<std::uint16_t>(cap)});
  }
}

TEST_F(CudaWarping, PathsThatAreEqualEverywhereGiveTheDefinition) {
  const Samples flat(3000, 6000);
  for (const std::size_t rows : {1, 2, 3, 5, 9, 17, 40, 200}) {
    const Samples query(rows, 6003);
    auto all = candidates(60, static_cast<int>(2 * rows));
    for (auto& candidate : all) candidate.level = in_range(-5, 5);
    expect_the_definition(flat, query, all, {});
  }
}

}  // namespace
}  // namespace spintag::kernels
