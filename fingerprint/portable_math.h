// fingerprint/portable_math.h - logarithm and exponential with the same bits on every processor and
// device.
//
// A hash, a rank or a threshold that hangs on a logarithm must not depend on whose library took it.
// These use + - * / and bits alone, each of which IEEE 754 defines to the last bit.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/host_device.h"

namespace spintag::fingerprint {
namespace portable {

inline constexpr double kLog2E = 1.44269504088896338700e+00;
inline constexpr double kSqrtHalf = 7.07106781186547524401e-01;

/// ln 2 in two parts: the first has 21 zero bits at its end, so that it times an exponent is exact.
inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;

/// 2^exponent for -1022 <= exponent <= 1023.
SPINTAG_HOST_DEVICE inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// x = halvings ln 2 + high + low with |high| <= ln(2) / 2 and a little, and low what high's
/// rounding lost. For |x| < 2^20.
struct Reduced {
  int halvings;
  double high;
  double low;
};

SPINTAG_HOST_DEVICE inline Reduced reduce(double x) {
  const int k = static_cast<int>(x * kLog2E + (x < 0 ? -0.5 : 0.5));
  const double rest = x - k * kLn2High;  // exact
  const double part = k * kLn2Low;
  const double high = rest - part;
  return {k, high, (rest - high) - part};
}

/// exp(r) - 1 for the r of reduce(): r + r^2 (1/2! + r/3! + r^2/4! + ...).
SPINTAG_HOST_DEVICE inline double expm1_of_small(double high, double low) {
  constexpr int kTerms = 13;  // 0.35^14 / 14! is far below the last bit
  double factorial = 1;       // constant once unrolled
  double inverse[kTerms + 1] = {1};
  for (int i = 1; i <= kTerms; ++i) inverse[i] = 1 / (factorial *= i);
  double sum = inverse[kTerms];
  for (int i = kTerms - 1; i >= 2; --i) sum = inverse[i] + high * sum;
  return high + (low + high * high * sum);
}

}  // namespace portable

/// ln(x) to 1 ulp, for positive normal x. (For any other it gives a finite number of no meaning.)
///
/// x = 2^k m with m in [sqrt(1/2), sqrt(2)). With f = m - 1 and s = f / (2 + f),
/// ln(1 + f) = 2 atanh(s) = 2s + 2s^3/3 + 2s^5/5 + ..., and 2s = f - s f = f - (f^2/2 - s f^2/2)
/// keeps the bits of f. Source: K. C. Ng, fdlibm e_log.c, Sun Microsystems, 1993; the series is
/// Taylor's here, and longer.
SPINTAG_HOST_DEVICE inline double portable_log(double x) {
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int k = static_cast<int>(bits >> 52 & 0x7FF) - 1022;
  double m = std::bit_cast<double>((bits & kMantissa) | std::uint64_t{1022} << 52);  // [1/2, 1)
  if (m < portable::kSqrtHalf) {
    m += m;
    --k;
  }
  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  constexpr int kTerms = 11;  // z <= 0.0295: z^11 / 23 is below the last bit
  double sum = 2.0 / (2 * kTerms + 1);
  for (int i = kTerms - 1; i >= 1; --i) sum = 2.0 / (2 * i + 1) + z * sum;
  const double half_square = 0.5 * f * f;
  const double rest = s * (half_square + z * sum) + k * portable::kLn2Low;
  return k * portable::kLn2High - ((half_square - rest) - f);
}

/// exp(x) to 1 ulp; 0 and infinity where a double ends; NaN of NaN.
SPINTAG_HOST_DEVICE inline double portable_exp(double x) {
  if (!(x == x)) return x;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  const portable::Reduced r = portable::reduce(x);
  const int half = r.halvings / 2;  // 2^1024 is no double, nor are those below 2^-1022 of full bits
  return (1 + portable::expm1_of_small(r.high, r.low)) * portable::power_of_two(half) *
         portable::power_of_two(r.halvings - half);
}

/// exp(x) - 1 to 2 ulp, near 0 too.
SPINTAG_HOST_DEVICE inline double portable_expm1(double x) {
  if (!(x > -40 && x < 40)) return portable_exp(x) - 1;
  const portable::Reduced r = portable::reduce(x);
  const double small = portable::expm1_of_small(r.high, r.low);
  if (r.halvings == 0) return small;
  return portable::power_of_two(r.halvings) * (small + (1 - portable::power_of_two(-r.halvings)));
}

/// The nearest whole number, halves away from zero, as std::llround() gives it; |x| < 2^63.
SPINTAG_HOST_DEVICE inline std::int64_t portable_round(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  const double rest = x - static_cast<double>(whole);  // exact
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

}  // namespace spintag::fingerprint
