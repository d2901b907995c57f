// fingerprint/index_build.cpp - building a shard with many threads, the same to the last bit
// however many there are.
//
// Tracks are cut into parts and buckets into regions. A part makes its landmarks and sorts them
// into chunks by region: a word of the result, and 16 bits that say in which of the region's
// buckets it belongs. Then each region is put in order by one thread, and its chunks are given
// back. While a shard is built a posting costs 6 bytes, afterwards 4; nothing but whole regions,
// which fit in a cache, is written in random order.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "fingerprint/index_memory.h"
#include "fingerprint/index_shard.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/profile.h"
#include "fingerprint/reference.h"

namespace spintag::fingerprint {
namespace {

/// Of a packed peak, at least: what a part may bring is known before it is unpacked.
constexpr std::size_t kPackedPeakBytes = 3;
/// Buckets of a region: 16 bits number them.
constexpr int kRegionShift = 16;
constexpr std::size_t kRegionBuckets = std::size_t{1} << kRegionShift;
/// A thread is worth its start for about a hundred songs, 30 ms of work.
constexpr std::size_t kPackedBytesPerThread = std::size_t{1} << 20;
/// Longer buckets are rare; they belong to notes that half the catalogue holds.
constexpr std::ptrdiff_t kInsertionSortWords = 32;

/// The heap behind a shard that was built, not mapped.
struct Owned {
  std::vector<ShardTrack> tracks;
  RawArray<std::uint32_t> directory;
  RawArray<std::uint32_t> words;
  RawArray<std::byte> packed;
  std::vector<char> metadata;
  std::uint32_t units = 0;

  ShardArrays arrays() const {
    return {tracks, directory.span(), words.span(), packed.span(), metadata, units};
  }
};

void lay_out(std::span<const IndexTrack> tracks, Owned& owned) {
  std::uint64_t units = 0;
  std::size_t packed_bytes = 0;
  std::size_t metadata_bytes = 0;
  owned.tracks.reserve(tracks.size());
  for (const IndexTrack& track : tracks) {
    const std::uint64_t length = IndexShard::units_of(track.duration_s);
    owned.tracks.push_back({.track_id = track.track_id,
                            .duration_s = track.duration_s,
                            .packed_begin = packed_bytes,
                            .metadata_begin = metadata_bytes,
                            .packed_bytes = static_cast<std::uint32_t>(track.packed.size()),
                            .metadata_bytes = static_cast<std::uint32_t>(track.metadata.size()),
                            .first_unit = static_cast<std::uint32_t>(units),
                            .units = static_cast<std::uint32_t>(length)});
    packed_bytes += track.packed.size();
    metadata_bytes += track.metadata.size();
    units += length;
    if (units > IndexShard::kMaxUnits)
      throw IndexError("index shard: over 2^30 time units of 20 ms");
  }
  owned.units = static_cast<std::uint32_t>(units);
  owned.packed = RawArray<std::byte>(packed_bytes);
  owned.metadata.reserve(metadata_bytes);
  for (const IndexTrack& track : tracks)
    owned.metadata.insert(owned.metadata.end(), track.metadata.begin(), track.metadata.end());
}

/// Runs job(0) to job(parts - 1), each in a thread of its own, the last in this one; in this one
/// too what no thread could be had for. What the first of them to fail threw is thrown.
template <class Job>
void run_parts(unsigned parts, Job&& job) {
  std::vector<std::exception_ptr> errors(parts);
  const auto guarded = [&](unsigned part) {
    try {
      job(part);
    } catch (...) {
      errors[part] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(parts - 1);
    unsigned part = 0;
    try {
      for (; part + 1 < parts; ++part) {
        threads.emplace_back([&guarded, part] {
          ::pthread_setname_np(::pthread_self(), "index-build");
          guarded(part);
        });
      }
    } catch (const std::system_error&) {
    }
    for (; part < parts; ++part) guarded(part);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

class Builder {
 public:
  Builder(std::span<const IndexTrack> tracks, unsigned most_threads)
      : tracks_(tracks), owned_(std::make_shared<Owned>()) {
    lay_out(tracks, *owned_);
    per_bucket_ = IndexShard::keys_per_bucket(owned_->units);
    reciprocal_ = std::numeric_limits<std::uint64_t>::max() / per_bucket_ + 1;
    buckets_ = IndexShard::bucket_count(per_bucket_);
    regions_ = (buckets_ + kRegionBuckets - 1) / kRegionBuckets;
    if (most_threads == 0) most_threads = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t worth = owned_->packed.size() / kPackedBytesPerThread + 1;
    parts_ = std::vector<Part>(std::min<std::size_t>(most_threads, worth));
  }

  std::shared_ptr<Owned> build();

 private:
  /// What one part of the tracks brought.
  struct Part {
    std::optional<ChunkArena> arena;
    std::vector<Chunk*> last;  ///< by region; null = none
  };

  std::size_t first_track(unsigned part) const;
  void make_postings(unsigned part);
  template <class OnPosting>
  void for_each_posting(std::size_t track_number, OnPosting&& on_posting);
  std::uint64_t lay_out_regions();
  void order_region(std::size_t region);

  std::span<const IndexTrack> tracks_;
  std::shared_ptr<Owned> owned_;
  std::uint32_t per_bucket_ = 1;
  std::uint64_t reciprocal_ = 0;
  std::size_t buckets_ = 0;
  std::size_t regions_ = 0;
  std::vector<Part> parts_;
  std::vector<std::uint64_t> region_begin_;  ///< [regions + 1] into words
};

/// Parts hold about as many packed bytes each.
std::size_t Builder::first_track(unsigned part) const {
  if (part == parts_.size()) return owned_->tracks.size();
  const std::uint64_t begin = std::uint64_t{owned_->packed.size()} * part / parts_.size();
  const auto found = std::lower_bound(
      owned_->tracks.begin(), owned_->tracks.end(), begin,
      [](const ShardTrack& track, std::uint64_t at) { return track.packed_begin < at; });
  return static_cast<std::size_t>(found - owned_->tracks.begin());
}

void Builder::make_postings(unsigned number) {
  const std::size_t first = first_track(number);
  const std::size_t end = first_track(number + 1);
  std::size_t most = 0;
  for (std::size_t i = first; i < end; ++i)
    most += (tracks_[i].packed.size() / kPackedPeakBytes) * BroadcastProfile::targets_per_anchor;
  Part& part = parts_[number];
  part.arena.emplace(most / Chunk::kPostings + regions_ + 1);
  part.last.assign(regions_, nullptr);
  for (std::size_t i = first; i < end; ++i) {
    for_each_posting(i, [&part](std::uint32_t bucket, std::uint32_t word) {
      Chunk*& chunk = part.last[bucket >> kRegionShift];
      if (chunk == nullptr || chunk->used == Chunk::kPostings) chunk = part.arena->take(chunk);
      chunk->words[chunk->used] = word;
      chunk->buckets[chunk->used] = static_cast<std::uint16_t>(bucket & (kRegionBuckets - 1));
      ++chunk->used;
    });
  }
}

/// Copies a track's packed peaks and calls on_posting(bucket, word) for every landmark.
template <class OnPosting>
void Builder::for_each_posting(std::size_t track_number, OnPosting&& on_posting) {
  const ShardTrack& track = owned_->tracks[track_number];
  const std::span<const std::byte> packed = tracks_[track_number].packed;
  std::copy(packed.begin(), packed.end(), owned_->packed.data() + track.packed_begin);
  std::vector<Peak> peaks;
  try {
    peaks = unpack_peaks(packed);
  } catch (const std::invalid_argument& error) {
    throw IndexError("track " + std::to_string(track.track_id) + ": " + error.what());
  }
  std::vector<Landmark> landmarks;
  make_reference_landmarks(peaks, landmarks);
  for (const Landmark& landmark : landmarks) {
    const auto unit = static_cast<std::uint32_t>(landmark.anchor_time_s / IndexShard::kUnitS);
    if (unit >= track.units) continue;
    const std::uint32_t key = IndexShard::key_of(landmark.hash);
    const auto bucket =
        static_cast<std::uint32_t>((static_cast<unsigned __int128>(reciprocal_) * key) >> 64);
    on_posting(bucket, (key - bucket * per_bucket_) * owned_->units + track.first_unit + unit);
  }
}

std::uint64_t Builder::lay_out_regions() {
  region_begin_.assign(regions_ + 1, 0);
  std::uint64_t total = 0;
  for (std::size_t region = 0; region < regions_; ++region) {
    region_begin_[region] = total;
    for (const Part& part : parts_) {
      for (const Chunk* chunk = part.last[region]; chunk != nullptr; chunk = chunk->before)
        total += chunk->used;
    }
  }
  region_begin_[regions_] = total;
  if (total > std::numeric_limits<std::uint32_t>::max())
    throw IndexError("index shard: over 2^32 postings");
  return total;
}

void sort_words(std::uint32_t* first, std::uint32_t* last) {
  if (last - first > kInsertionSortWords) return std::sort(first, last);
  for (std::uint32_t* next = first; next < last; ++next) {
    const std::uint32_t word = *next;
    std::uint32_t* place = next;
    for (; place != first && place[-1] > word; --place) *place = place[-1];
    *place = word;
  }
}

/// Counting sort by bucket, then each bucket by itself.
void Builder::order_region(std::size_t region) {
  const std::size_t first_bucket = region * kRegionBuckets;
  const auto directory = owned_->directory.span().subspan(
      first_bucket, std::min(kRegionBuckets, buckets_ - first_bucket));
  std::uint32_t* const words = owned_->words.data();
  std::fill(directory.begin(), directory.end(), 0U);
  for (const Part& part : parts_) {
    for (const Chunk* chunk = part.last[region]; chunk != nullptr; chunk = chunk->before) {
      for (std::uint32_t i = 0; i < chunk->used; ++i) ++directory[chunk->buckets[i]];
    }
  }
  auto end = static_cast<std::uint32_t>(region_begin_[region]);
  for (std::uint32_t& entry : directory) entry = end += entry;
  // Each bucket is filled from its end.
  for (Part& part : parts_) {
    for (Chunk* chunk = std::exchange(part.last[region], nullptr); chunk != nullptr;) {
      for (std::uint32_t i = 0; i < chunk->used; ++i)
        words[--directory[chunk->buckets[i]]] = chunk->words[i];
      ChunkArena::give_back(std::exchange(chunk, chunk->before));
    }
  }
  for (std::size_t i = 0; i < directory.size(); ++i) {
    const std::uint64_t next = i + 1 < directory.size() ? directory[i + 1] : end;
    sort_words(words + directory[i], words + next);
  }
}

std::shared_ptr<Owned> Builder::build() {
  const auto parts = static_cast<unsigned>(parts_.size());
  run_parts(parts, [this](unsigned part) { make_postings(part); });
  const std::uint64_t total = lay_out_regions();
  owned_->directory = RawArray<std::uint32_t>(buckets_ + 1);
  owned_->words = RawArray<std::uint32_t>(total);
  std::atomic<std::size_t> next_region{0};
  run_parts(parts, [&](unsigned) {
    for (std::size_t region = next_region++; region < regions_; region = next_region++)
      order_region(region);
  });
  owned_->directory[buckets_] = static_cast<std::uint32_t>(total);
  return owned_;
}

}  // namespace

std::uint64_t IndexShard::units_of(double duration_s) {
  return static_cast<std::uint64_t>(std::ceil(std::max(0.0, duration_s) / kUnitS)) + 1;
}

std::shared_ptr<const IndexShard> IndexShard::build(std::span<const IndexTrack> tracks,
                                                    unsigned threads) {
  const std::shared_ptr<Owned> owned = Builder(tracks, threads).build();
  return std::make_shared<IndexShard>(owned->arrays(), owned);
}

}  // namespace spintag::fingerprint
