// fingerprint/melody/ascending_order.h - sorting thousands of numbers without comparing them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace spintag::fingerprint {

/// @return the places of the values, the least value first; of equal ones the earlier first
std::vector<std::uint32_t> ascending_order(std::span<const std::uint64_t> values);

/// @param key  std::uint64_t(const T&), by which they are put in ascending order; of equal ones the
/// earlier stays first
template <class T, class Key>
void sort_by(std::vector<T>& values, Key&& key) {
  std::vector<std::uint64_t> keys;
  keys.reserve(values.size());
  for (const T& value : values) keys.push_back(key(value));
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const std::uint32_t at : ascending_order(keys)) sorted.push_back(values[at]);
  values = std::move(sorted);
}

}  // namespace spintag::fingerprint
