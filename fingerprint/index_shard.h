// fingerprint/index_shard.h - one immutable part of the index: compressed sparse rows, and the
// peaks of its tracks.
//
// Tracks lie one after the other on one time line of 20 ms units. A posting is one 32-bit word that
// holds what is left of the hash and the place on the time line. With T units, a bucket takes D =
// floor((2^32 - 1) / T) consecutive keys, and the word is (key mod D) * T + unit: as the catalogue
// grows the place needs more of the word, the buckets more of the key, and nothing else changes.
// The words of a bucket are sorted, so one key is one run of them, found without a division. A
// bucket holds about 15 postings at any size: 4 bytes a posting and 0.3 for the directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fingerprint/index.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

/// A track of a shard; also its form in a snapshot.
struct ShardTrack {
  TrackId track_id = 0;
  double duration_s = 0;
  std::uint64_t packed_begin = 0;    ///< into the shard's packed peaks, bytes
  std::uint64_t metadata_begin = 0;  ///< into the shard's metadata, bytes
  std::uint32_t packed_bytes = 0;
  std::uint32_t metadata_bytes = 0;
  std::uint32_t first_unit = 0;  ///< place on the time line
  std::uint32_t units = 0;
};

/// The arrays of a shard, wherever they live (heap or mapped file).
struct ShardArrays {
  std::span<const ShardTrack> tracks;        ///< by first_unit
  std::span<const std::uint32_t> directory;  ///< [buckets + 1] first word of each bucket
  std::span<const std::uint32_t> words;      ///< postings, sorted within each bucket
  std::span<const std::byte> packed;         ///< PackedPeaks of all tracks
  std::span<const char> metadata;
  std::uint32_t units = 0;  ///< T, length of the time line
};

class IndexShard : public std::enable_shared_from_this<IndexShard> {
 public:
  static constexpr double kUnitS = 0.020;
  /// 2^30 units: 85,000 songs of four minutes. Longer catalogues take several shards.
  static constexpr std::uint64_t kMaxUnits = std::uint64_t{1} << 30;

  /// Units that a recording takes on the time line.
  static std::uint64_t units_of(double duration_s);
  /// The same arrays from any number of threads. While it works it needs half the words' memory
  /// again. Few tracks are built without threads.
  /// @param threads  at most so many; 0 = one for each core
  /// @throws IndexError if the tracks need more than kMaxUnits, or naming a damaged one
  static std::shared_ptr<const IndexShard> build(std::span<const IndexTrack> tracks,
                                                 unsigned threads = 0);
  /// Over arrays that `owner` keeps alive.
  IndexShard(const ShardArrays& arrays, std::shared_ptr<const void> owner);
  /// The same arrays without some tracks.
  std::shared_ptr<const IndexShard> without(std::span<const TrackId> removed) const;

  /// This shard when nothing was removed from it, else one built of what is left.
  std::shared_ptr<const IndexShard> compacted() const;
  /// Appends what is left, for building another shard; views into this one.
  void append_live(std::vector<IndexTrack>& tracks) const;

  const ShardArrays& arrays() const { return arrays_; }
  std::size_t live_tracks() const { return arrays_.tracks.size() - removed_count_; }
  bool is_live(std::size_t track) const { return removed_.empty() || !removed_[track]; }
  /// Number in arrays().tracks of a live track.
  std::optional<std::size_t> find(TrackId track_id) const;
  /// Number of the track that holds a unit.
  std::size_t track_at(std::uint32_t unit) const;
  std::span<const std::byte> packed(const ShardTrack& track) const {
    return arrays_.packed.subspan(track.packed_begin, track.packed_bytes);
  }
  std::string_view metadata(const ShardTrack& track) const {
    return {arrays_.metadata.data() + track.metadata_begin, track.metadata_bytes};
  }
  std::size_t resident_bytes() const;

  /// Calls on_unit(unit) for every posting of `hash`.
  template <class OnUnit>
  void for_each_unit(std::uint32_t hash, OnUnit&& on_unit) const {
    const Place at = place(hash);
    const std::uint32_t* word = arrays_.words.data() + arrays_.directory[at.bucket];
    const std::uint32_t* const end = arrays_.words.data() + arrays_.directory[at.bucket + 1];
    const std::uint32_t low = at.rest * arrays_.units;
    while (word != end && *word < low) ++word;
    for (; word != end && *word - low < arrays_.units; ++word) on_unit(*word - low);
  }

  /// Where a hash is kept: its bucket, and its number among the keys of that bucket.
  struct Place {
    std::uint32_t bucket;
    std::uint32_t rest;
  };
  Place place(std::uint32_t hash) const {
    const std::uint32_t key = key_of(hash);
    const auto bucket =
        static_cast<std::uint32_t>((static_cast<unsigned __int128>(reciprocal_) * key) >> 64);
    return {bucket, key - bucket * keys_per_bucket_};
  }

  /// Frequencies are mixed, so that the buckets fill evenly; the time difference stays lowest, so
  /// that neighbours share one.
  SPINTAG_HOST_DEVICE static std::uint32_t key_of(std::uint32_t hash);
  std::uint32_t keys_per_bucket() const { return keys_per_bucket_; }
  static std::uint32_t keys_per_bucket(std::uint32_t units);       ///< D of a time line
  static std::size_t bucket_count(std::uint32_t keys_per_bucket);  ///< that all keys take

 private:
  ShardArrays arrays_;
  std::shared_ptr<const void> owner_;
  std::uint32_t keys_per_bucket_ = 1;  ///< D
  std::uint64_t reciprocal_ = 0;  ///< floor(2^64 / D) + 1: key / D is the high half of a product
  std::vector<std::uint32_t> by_id_;  ///< track numbers in order of track_id
  std::vector<bool> removed_;         ///< by track number; empty = none
  std::size_t removed_count_ = 0;
};

SPINTAG_HOST_DEVICE inline std::uint32_t IndexShard::key_of(std::uint32_t hash) {
  constexpr std::uint32_t kDtBits = 7;
  constexpr std::uint32_t kFreqMask = (1U << 20) - 1;
  return ((hash >> kDtBits) * 0x9E375U & kFreqMask) << kDtBits | (hash & ((1U << kDtBits) - 1));
}

}  // namespace spintag::fingerprint
