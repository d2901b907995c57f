// fingerprint/shard_lookup.cpp - where any of a bucket's words is asked for.
#include "fingerprint/shard_lookup.h"

#include "kernels/multiversion.h"

namespace spintag::fingerprint {

/// A bucket holds some fifteen words. A fixed number of them without branches costs less than
/// finding out where to stop.
SPINTAG_CLONES std::uint64_t ShardLookup::met(std::span<const Words> ranges,
                                              const std::uint32_t* end) {
  constexpr std::uint32_t kAtOnce = 16;
  std::uint64_t answers = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Words at = ranges[i];
    std::uint32_t met = at.span == kSpills ? 1 : 0;
    std::uint32_t first = 0;
    for (; first < at.words && end - at.begin >= static_cast<std::ptrdiff_t>(first + kAtOnce);
         first += kAtOnce) {
      for (std::uint32_t k = 0; k < kAtOnce; ++k) {
        const std::uint32_t inside = at.begin[first + k] - at.low < at.span ? 1 : 0;
        met |= first + k < at.words ? inside : 0;
      }
    }
    for (; first < at.words; ++first) met |= at.begin[first] - at.low < at.span ? 1 : 0;
    answers |= std::uint64_t{met} << i;
  }
  return answers;
}

}  // namespace spintag::fingerprint
