// fingerprint/shard_lookup.cpp - where any of a bucket's words is asked for.
#include "fingerprint/shard_lookup.h"

#if defined(SPINTAG_MULTIVERSION) && defined(__x86_64__)
#include <immintrin.h>
#endif

namespace spintag::fingerprint {
namespace {

bool any_within(const std::uint32_t* words, std::uint32_t count, std::uint32_t low,
                std::uint32_t span) {
  std::uint32_t met = 0;
  for (std::uint32_t i = 0; i < count; ++i) met |= words[i] - low < span ? 1 : 0;
  return met != 0;
}

}  // namespace

#if defined(SPINTAG_MULTIVERSION) && defined(__x86_64__)

namespace {

/// Eight bits: which of eight words lie in [low, low + last].
[[gnu::target("avx2")]] inline std::uint32_t inside(const std::uint32_t* words, __m256i low,
                                                    __m256i last) {
  const __m256i from_low =
      _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)), low);
  const __m256i in = _mm256_cmpeq_epi32(_mm256_min_epu32(from_low, last), from_low);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(in)));
}

}  // namespace

/// A bucket holds some fifteen words. Sixteen at once cost less than finding out where to stop.
[[gnu::target("avx2")]] std::uint64_t ShardLookup::met_avx2(std::span<const Words> ranges,
                                                            const std::uint32_t* end) {
  constexpr std::uint32_t kAtOnce = 16;
  std::uint64_t answers = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Words& at = ranges[i];
    const __m256i low = _mm256_set1_epi32(static_cast<int>(at.low));
    const __m256i last = _mm256_set1_epi32(static_cast<int>(at.span - 1));
    bool met = at.span == kSpills;
    std::uint32_t first = 0;
    for (; first < at.words && end - at.begin >= static_cast<std::ptrdiff_t>(first + kAtOnce);
         first += kAtOnce) {
      const std::uint32_t* const words = at.begin + first;
      const std::uint32_t in = inside(words, low, last) | inside(words + 8, low, last) << 8;
      const std::uint32_t rest = at.words - first;
      met |= (in & (rest < kAtOnce ? (1U << rest) - 1 : ~0U)) != 0;
    }
    if (first < at.words) met |= any_within(at.begin + first, at.words - first, at.low, at.span);
    answers |= std::uint64_t{met} << i;
  }
  return answers;
}

std::uint64_t ShardLookup::met(std::span<const Words> ranges, const std::uint32_t* end) {
  static const bool wide = __builtin_cpu_supports("avx2");
  return wide ? met_avx2(ranges, end) : met_plain(ranges);
}

#else

std::uint64_t ShardLookup::met(std::span<const Words> ranges, const std::uint32_t*) {
  return met_plain(ranges);
}

#endif

std::uint64_t ShardLookup::met_plain(std::span<const Words> ranges) {
  std::uint64_t answers = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Words& at = ranges[i];
    const bool met = at.span == kSpills || any_within(at.begin, at.words, at.low, at.span);
    answers |= std::uint64_t{met} << i;
  }
  return answers;
}

}  // namespace spintag::fingerprint
