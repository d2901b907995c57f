// fingerprint/shard_lookup.cpp - which of a bucket's words are asked for.
#include "fingerprint/shard_lookup.h"

#include <bit>

#if defined(SPINTAG_MULTIVERSION) && defined(__x86_64__)
#include <immintrin.h>
#endif

namespace spintag::fingerprint {

void ShardLookup::find_words() {
  const ShardArrays& arrays = shard_.arrays();
  for (std::size_t i = 0; i < pieces_; ++i) {
    const Piece& piece = asked_[i];
    const std::uint32_t begin = arrays.directory[piece.place.bucket];
    const std::uint32_t count = arrays.directory[piece.place.bucket + 1] - begin;
    words_[i] = {arrays.words.data() + begin, count > longest_bucket_ ? 0 : count,
                 piece.place.rest * arrays.units, piece.count * arrays.units};
    if (words_[i].count == 0) continue;
    __builtin_prefetch(words_[i].begin);
    __builtin_prefetch(words_[i].begin + words_[i].count - 1);
  }
  const auto pieces = std::span<Words>(words_).first(pieces_);
#if defined(SPINTAG_MULTIVERSION) && defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
                           __builtin_cpu_supports("bmi");
  if (wide) return narrow_avx2(pieces, arrays.words.data() + arrays.words.size());
#endif
  for (Words& words : pieces) narrow(words);
}

void ShardLookup::narrow(Words& words) {
  const std::uint32_t* const end = words.begin + words.count;
  const std::uint32_t* const first = std::lower_bound(words.begin, end, words.low);
  const std::uint32_t* const last = std::lower_bound(
      first, end, words.span,
      [&](std::uint32_t word, std::uint32_t span) { return word - words.low < span; });
  words.begin = first;
  words.count = static_cast<std::uint32_t>(last - first);
}

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
[[gnu::target("avx2,popcnt,bmi")]] void ShardLookup::narrow_avx2(std::span<Words> pieces,
                                                                 const std::uint32_t* end) {
  constexpr std::uint32_t kAtOnce = 16;
  constexpr std::uint32_t kLong = 64;
  for (Words& at : pieces) {
    const std::uint32_t padded = (at.count + kAtOnce - 1) / kAtOnce * kAtOnce;
    if (at.count > kLong || end - at.begin < static_cast<std::ptrdiff_t>(padded)) {
      narrow(at);
      continue;
    }
    const __m256i low = _mm256_set1_epi32(static_cast<int>(at.low));
    const __m256i last = _mm256_set1_epi32(static_cast<int>(at.span - 1));
    std::uint64_t met = 0;
    for (std::uint32_t first = 0; first < at.count; first += kAtOnce) {
      const std::uint32_t* const words = at.begin + first;
      const std::uint64_t in = inside(words, low, last) | inside(words + 8, low, last) << 8;
      met |= in << first;
    }
    if (at.count < kLong) met &= (std::uint64_t{1} << at.count) - 1;
    at.begin += met != 0 ? std::countr_zero(met) : 0;
    at.count = static_cast<std::uint32_t>(std::popcount(met));
  }
}

#endif

}  // namespace spintag::fingerprint
