// tests/unit/fingerprint/melody_ascending_order_test.cpp - the order of values, by hand and beside
// a stable sort.
#include "fingerprint/melody/ascending_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>

namespace spintag::fingerprint {
namespace {

using Values = std::vector<std::uint64_t>;
using Order = std::vector<std::uint32_t>;

TEST(AscendingOrder, LeastFirstAndOfEqualOnesTheEarlier) {
  EXPECT_EQ(ascending_order(Values{7, 3, 7, std::uint64_t{1} << 63, 0, 3}),
            (Order{4, 1, 5, 0, 2, 3}));
  EXPECT_EQ(ascending_order(Values{5}), Order{0});
  EXPECT_EQ(ascending_order(Values{256, 256}), (Order{0, 1}));
  EXPECT_TRUE(ascending_order({}).empty());
}

TEST(AscendingOrder, IsThatOfAStableSort) {
  std::mt19937_64 random(4);
  for (const int shift : {0, 20, 48, 60}) {
    Values values(3000);
    for (auto& value : values) value = random() >> shift;
    Order expected(values.size());
    std::iota(expected.begin(), expected.end(), 0U);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    EXPECT_EQ(ascending_order(values), expected) << shift;
  }
}

}  // namespace
}  // namespace spintag::fingerprint
