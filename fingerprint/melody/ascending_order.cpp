// fingerprint/melody/ascending_order.cpp - radix sort, a byte a pass, the lowest first.
#include "fingerprint/melody/ascending_order.h"

#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace spintag::fingerprint {
namespace {

constexpr std::size_t kBytes = sizeof(std::uint64_t);

std::size_t byte_of(std::uint64_t value, std::size_t byte) { return value >> (8 * byte) & 0xFF; }

}  // namespace

std::vector<std::uint32_t> ascending_order(std::span<const std::uint64_t> values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  if (values.empty()) return order;
  std::array<std::array<std::uint32_t, 256>, kBytes> counts{};
  for (const std::uint64_t value : values) {
    for (std::size_t byte = 0; byte < kBytes; ++byte) ++counts[byte][byte_of(value, byte)];
  }
  std::vector<std::uint32_t> next(values.size());
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    auto& places = counts[byte];
    if (places[byte_of(values[0], byte)] == values.size()) continue;  // all have the same
    std::exclusive_scan(places.begin(), places.end(), places.begin(), 0U);
    for (const std::uint32_t at : order) next[places[byte_of(values[at], byte)]++] = at;
    std::swap(order, next);
  }
  return order;
}

}  // namespace spintag::fingerprint
