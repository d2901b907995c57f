// fingerprint/chernoff.h - the Chernoff bound on chance of a weighted count of coincidences, in
// pieces that the processor and a CUDA device put together to the same bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numbers>

#include "fingerprint/portable_math.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint::verification {

/// A product of factors of at least 1 that may leave the range of a double: value * 2^exponent.
struct Product {
  /// Of factors below 2^20 this many may be multiplied between two calls of normalise().
  static constexpr std::uint32_t kBetween = 32;

  double value = 1;
  int exponent = 0;

  SPINTAG_HOST_DEVICE void normalise() {
    constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    exponent += static_cast<int>(bits >> 52) - 1023;
    value = std::bit_cast<double>((bits & kMantissa) | std::uint64_t{1023} << 52);
  }
  SPINTAG_HOST_DEVICE double log() const {
    return portable_log(value) + exponent * std::numbers::ln2;
  }
};

/// s * sum w - sum ln(1 - p + p (e^s - 1) / s) is the log of the Chernoff bound at s, for weights
/// uniform in [0, 1]: of each p, the factor of the product whose logarithm is the second sum.
struct ChernoffFactor {
  SPINTAG_HOST_DEVICE explicit ChernoffFactor(double s) : excess(portable_expm1(s) / s - 1.0) {}
  SPINTAG_HOST_DEVICE double of(double chance) const { return 1.0 + chance * excess; }
  double excess;
};

/// Golden-section search for the largest Chernoff bound, which is concave in s. Ask the bound at a
/// and at b; then, while wide(), ask it where narrow() says and put it in by set().
struct BoundSearch {
  static constexpr double kRatio = std::numbers::phi - 1;
  double low = 0.01;
  double high = 16;
  double a = high - kRatio * (high - low);
  double b = low + kRatio * (high - low);
  double at_a = 0;
  double at_b = 0;
  bool asks_a = false;

  SPINTAG_HOST_DEVICE bool wide() const { return high - low > 0.05; }
  SPINTAG_HOST_DEVICE double narrow() {
    asks_a = at_a > at_b;
    if (asks_a) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kRatio * (high - low);
      return a;
    }
    low = a;
    a = b;
    at_a = at_b;
    b = low + kRatio * (high - low);
    return b;
  }
  SPINTAG_HOST_DEVICE void set(double bound) { (asks_a ? at_a : at_b) = bound; }
  /// Decades.
  SPINTAG_HOST_DEVICE double score() const {
    return std::max(0.0, std::max(at_a, at_b)) * (1 / std::numbers::ln10);
  }
};

}  // namespace spintag::fingerprint::verification
