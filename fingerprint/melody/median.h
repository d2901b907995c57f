// fingerprint/melody/median.h - the middle of some values.
#pragma once

#include <algorithm>
#include <vector>

namespace spintag::fingerprint {

/// The upper median. @param values  not empty; their order changes
template <class Value>
Value median(std::vector<Value>& values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace spintag::fingerprint
