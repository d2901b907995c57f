// fingerprint/shard_lookup.h - ranges of hashes looked up in a shard, a batch at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fingerprint/index_shard.h"

namespace spintag::fingerprint {

/// Nine in ten ranges meet no posting. Which do is found for a batch in three passes, each of which
/// fetches what the next one reads: a large index answers from memory, not from cache. A range that
/// lies in several buckets is looked up bucket by bucket.
class ShardLookup {
 public:
  /// @param longest_bucket  buckets of more words are not read
  ShardLookup(const IndexShard& shard, std::uint32_t longest_bucket)
      : shard_(shard), longest_bucket_(longest_bucket) {}

  /// Calls on_posting(i, hash, unit) for every posting of range i, range by range.
  /// @param ranges  each with members `hash`, the first of its hashes, and `count`; a range's
  /// hashes share all but the bits of the time difference
  template <class Ranges, class OnPosting>
  void for_each(const Ranges& ranges, OnPosting&& on_posting) {
    const std::uint32_t* const directory = shard_.arrays().directory.data();
    const std::uint32_t per_bucket = shard_.keys_per_bucket();
    std::uint32_t number = 0;
    for (const auto& range : ranges) {
      std::uint32_t hash = range.hash;
      IndexShard::Place place = shard_.place(hash);
      for (std::uint32_t left = range.count; left > 0;) {
        if (pieces_ == kBatch) answer(on_posting);
        const std::uint32_t here = std::min(left, per_bucket - place.rest);
        __builtin_prefetch(&directory[place.bucket]);
        asked_[pieces_++] = {hash, here, number, place};
        hash += here;
        left -= here;
        place = {place.bucket + 1, 0};
      }
      ++number;
    }
    answer(on_posting);
  }

 private:
  static constexpr std::size_t kBatch = 64;

  /// The hashes of a range that lie in one bucket.
  struct Piece {
    std::uint32_t hash;
    std::uint32_t count;
    std::uint32_t range;
    IndexShard::Place place;
  };
  /// Of a bucket.
  struct Words {
    const std::uint32_t* begin;
    std::uint32_t count;
    std::uint32_t low;   ///< first word of the piece's first hash
    std::uint32_t span;  ///< words of all its hashes lie in [low, low + span)
  };

  template <class OnPosting>
  void answer(OnPosting& on_posting) {
    find_words();
    const std::uint32_t units = shard_.arrays().units;
    for (std::size_t i = 0; i < pieces_; ++i) {
      const Words& met = words_[i];
      if (met.count == 0) continue;
      std::uint32_t hash = asked_[i].hash;
      std::uint32_t low = met.low;  // first word of `hash`
      for (std::uint32_t k = 0; k < met.count; ++k) {
        while (met.begin[k] - low >= units) {  // they are sorted
          low += units;
          ++hash;
        }
        on_posting(asked_[i].range, hash, met.begin[k] - low);
      }
    }
    pieces_ = 0;
  }

  /// For each piece the words that it meets.
  void find_words();
  /// Leaves of each bucket's words those in [low, low + span).
  /// @param end  of all words
  static void narrow_avx2(std::span<Words> pieces, const std::uint32_t* end);
  static void narrow(Words& words);

  const IndexShard& shard_;
  std::uint32_t longest_bucket_;
  std::array<Piece, kBatch> asked_;
  std::array<Words, kBatch> words_;
  std::size_t pieces_ = 0;
};

}  // namespace spintag::fingerprint
