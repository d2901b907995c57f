// tests/unit/kernels/cuda_scan_test.cpp - running sums on a CUDA device.
#include <gtest/gtest.h>

#include <random>

#include "kernels/scan.h"
#include "tests/unit/cuda_test.h"

namespace spintag::kernels {
namespace {

class CudaScan : public CudaTest {};

TEST(Scan, SumsOfAHandExampleAndOfNothing) {
  Device cpu = Device::cpu();
  const std::vector<std::uint32_t> counts{3, 0, 5, 1};
  EXPECT_EQ(exclusive_sums(cpu, counts), (std::vector<std::uint32_t>{0, 3, 3, 8, 9}));
  EXPECT_EQ(exclusive_sums(cpu, {}), (std::vector<std::uint32_t>{0}));
}

TEST_F(CudaScan, SumsEqualTheProcessorsAtSizesAroundATile) {
  std::mt19937 random(1);
  for (const std::size_t size : {0, 1, 2, 7, 8, 31, 33, 255, 2047, 2048, 2049, 4095, 4096, 5000,
                                 100003, 2048 * 40 - 1, 2048 * 40, 2048 * 40 + 1}) {
    std::vector<std::uint32_t> counts(size);
    for (auto& count : counts) count = static_cast<std::uint32_t>(random() % 1000);
    EXPECT_EQ(exclusive_sums(cuda_, counts), exclusive_sums(cpu_, counts)) << size;
  }
}

TEST_F(CudaScan, SumsOfMoreThanATileOfTilesEqualTheProcessors) {
  std::vector<std::uint32_t> counts(std::size_t{2048} * 2048 + 4097);
  std::mt19937 random(2);
  for (auto& count : counts) count = random() % 4 == 0 ? 1 : 0;
  EXPECT_EQ(exclusive_sums(cuda_, counts), exclusive_sums(cpu_, counts));
}

TEST_F(CudaScan, SumsWrapAsTheProcessorsDo) {
  const std::vector<std::uint32_t> counts(5000, 0xFFFFFF00U);
  EXPECT_EQ(exclusive_sums(cuda_, counts), exclusive_sums(cpu_, counts));
}

}  // namespace
}  // namespace spintag::kernels
