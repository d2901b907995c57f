// fingerprint/shard_lookup.h - a batch of ranges of hashes looked up in a shard at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "fingerprint/index_shard.h"

namespace spintag::fingerprint {

/// Nine in ten ranges meet no posting. Which do is found for a batch in three passes, each of which
/// fetches what the next one reads: a large index answers from memory, not from cache.
class ShardLookup {
 public:
  static constexpr std::size_t kBatch = 64;

  /// @param ranges  at most kBatch, each with members `hash`, the first of its hashes, and `count`;
  /// a range's hashes share all but the bits of the time difference
  template <class Ranges>
  ShardLookup(const IndexShard& shard, const Ranges& ranges) : shard_(shard) {
    const ShardArrays& arrays = shard.arrays();
    std::size_t i = 0;
    for (const auto& range : ranges) {
      const IndexShard::Place place = shard.place(range.hash);
      __builtin_prefetch(&arrays.directory[place.bucket]);
      places_[i++] = place;
    }
    i = 0;
    for (const auto& range : ranges) {
      words_[i] = words_of(range.hash, range.count, places_[i]);
      __builtin_prefetch(words_[i].begin);
      __builtin_prefetch(words_[i].begin + 16);
      ++i;
    }
    answers_ =
        met(std::span<const Words>(words_).first(i), arrays.words.data() + arrays.words.size());
  }

  /// Bit i is set where range i may meet a posting.
  std::uint64_t answers() const { return answers_; }

  /// Calls on_posting(hash, unit) for every posting of range i.
  template <class OnPosting>
  void for_each(std::size_t i, OnPosting&& on_posting) const {
    const Words& at = words_[i];
    if (at.span == kSpills) {
      for (std::uint32_t k = 0; k < at.count; ++k) {
        shard_.for_each_unit(at.hash + k,
                             [&](std::uint32_t unit) { on_posting(at.hash + k, unit); });
      }
      return;
    }
    const std::uint32_t units = shard_.arrays().units;
    std::uint32_t hash = at.hash;
    std::uint32_t begin = at.low;  // first word of `hash`
    for (std::uint32_t k = 0; k < at.words; ++k) {
      const std::uint32_t word = at.begin[k];
      if (word - at.low >= at.span) continue;
      while (word - begin >= units) {  // words of a bucket are sorted
        begin += units;
        ++hash;
      }
      on_posting(hash, word - begin);
    }
  }

 private:
  /// The words that a range has to look through.
  struct Words {
    const std::uint32_t* begin;
    std::uint32_t words;
    std::uint32_t low;   ///< first word of the first hash
    std::uint32_t span;  ///< words of all its hashes lie in [low, low + span)
    std::uint32_t hash;
    std::uint32_t count;
  };
  /// Instead of a span: the hashes lie in several buckets.
  static constexpr std::uint32_t kSpills = std::numeric_limits<std::uint32_t>::max();

  Words words_of(std::uint32_t hash, std::uint32_t count, const IndexShard::Place& place) const {
    const ShardArrays& arrays = shard_.arrays();
    const std::uint32_t begin = arrays.directory[place.bucket];
    const bool spills = place.rest + count > shard_.keys_per_bucket();
    return {arrays.words.data() + begin,
            arrays.directory[place.bucket + 1] - begin,
            place.rest * arrays.units,
            spills ? kSpills : count * arrays.units,
            hash,
            count};
  }
  /// @param end  of all words
  static std::uint64_t met(std::span<const Words> ranges, const std::uint32_t* end);
  static std::uint64_t met_avx2(std::span<const Words> ranges, const std::uint32_t* end);
  static std::uint64_t met_plain(std::span<const Words> ranges);

  const IndexShard& shard_;
  std::array<IndexShard::Place, kBatch> places_;
  std::array<Words, kBatch> words_;
  std::uint64_t answers_ = 0;
};

}  // namespace spintag::fingerprint
