// tests/unit/fingerprint/portable_math_test.cpp - against the C++ library in long double.
#include "fingerprint/portable_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace spintag::fingerprint {
namespace {

constexpr int kDraws = 200000;

/// Distance in units of the last place of the exact value; long double has 11 more bits on x86.
double ulps(double value, long double exact) {
  const double near = std::abs(static_cast<double>(exact));
  const double ulp = std::nextafter(near, std::numeric_limits<double>::infinity()) - near;
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact) / ulp);
}

template <class Portable, class Exact>
double worst_ulps(double low, double high, Portable portable, Exact exact) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(low, high);
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = uniform(random);
    worst = std::max(worst, ulps(portable(x), exact(static_cast<long double>(x))));
  }
  return worst;
}

const auto kLog = [](long double x) { return std::log(x); };
const auto kExp = [](long double x) { return std::exp(x); };
const auto kExpm1 = [](long double x) { return std::expm1(x); };

TEST(PortableMath, LogIsWithinAnUlp) {
  EXPECT_LT(worst_ulps(0.5, 2, portable_log, kLog), 1.0);
  EXPECT_LT(worst_ulps(0.999, 1.001, portable_log, kLog), 1.0);
  EXPECT_LT(worst_ulps(1, 8, portable_log, kLog), 1.0);
  EXPECT_LT(worst_ulps(0, 1e-300, portable_log, kLog), 1.0);
  EXPECT_LT(worst_ulps(1, 1e300, portable_log, kLog), 1.0);
}

TEST(PortableMath, LogOfOneIsZeroAndOfTheEndsOfTheRangeRight) {
  EXPECT_EQ(portable_log(1), 0);
  for (const double x : {std::numeric_limits<double>::min(), std::numeric_limits<double>::max(),
                         std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0), 0.5, 2.0,
                         portable::kSqrtHalf, std::nextafter(portable::kSqrtHalf, 0.0)}) {
    EXPECT_LT(ulps(portable_log(x), std::log(static_cast<long double>(x))), 1.0) << x;
  }
}

TEST(PortableMath, ExpIsWithinAnUlp) {
  EXPECT_LT(worst_ulps(-1, 1, portable_exp, kExp), 1.0);
  EXPECT_LT(worst_ulps(-40, 40, portable_exp, kExp), 1.0);
  EXPECT_LT(worst_ulps(-708, 709.7, portable_exp, kExp), 1.0);
  EXPECT_EQ(portable_exp(0), 1);
}

TEST(PortableMath, ExpGoesToZeroAndInfinityWhereDoublesEnd) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_LE(worst_ulps(-745, -708, portable_exp, kExp), 1.5);  // subnormal: rounded twice
  EXPECT_EQ(portable_exp(-746), 0);
  EXPECT_EQ(portable_exp(-kInfinity), 0);
  EXPECT_EQ(portable_exp(709.8), kInfinity);
  EXPECT_EQ(portable_exp(kInfinity), kInfinity);
  EXPECT_LT(ulps(portable_exp(709.78), std::exp(static_cast<long double>(709.78))), 1.0);
  EXPECT_TRUE(std::isnan(portable_exp(std::numeric_limits<double>::quiet_NaN())));
}

TEST(PortableMath, Expm1IsWithinTwoUlps) {
  EXPECT_LT(worst_ulps(-1e-9, 1e-9, portable_expm1, kExpm1), 2.0);
  EXPECT_LT(worst_ulps(-0.34, 0.34, portable_expm1, kExpm1), 2.0);
  EXPECT_LT(worst_ulps(-2, 2, portable_expm1, kExpm1), 2.0);
  EXPECT_LT(worst_ulps(-16, 16, portable_expm1, kExpm1), 2.0);
  EXPECT_LT(worst_ulps(-100, 100, portable_expm1, kExpm1), 2.0);
  EXPECT_EQ(portable_expm1(0), 0);
  EXPECT_EQ(portable_expm1(1e-300), 1e-300);
}

TEST(PortableMath, RoundIsLlround) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(-10, 10);
  for (int i = 0; i < kDraws; ++i) {
    const double x = uniform(random);
    ASSERT_EQ(portable_round(x), std::llround(x)) << x;
  }
  for (const double half : {0.5, 1.5, 2.5, 1e6 + 0.5, 4503599627370495.5, 9007199254740993.0}) {
    for (const double x : {half, std::nextafter(half, 0.0), std::nextafter(half, 1e300)}) {
      EXPECT_EQ(portable_round(x), std::llround(x)) << x;
      EXPECT_EQ(portable_round(-x), std::llround(-x)) << x;
    }
  }
}

}  // namespace
}  // namespace spintag::fingerprint
