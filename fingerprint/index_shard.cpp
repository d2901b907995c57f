// fingerprint/index_shard.cpp - building a shard: landmarks are counted, then placed, then each
// bucket is sorted.
#include "fingerprint/index_shard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "fingerprint/landmarks.h"
#include "fingerprint/profile.h"
#include "fingerprint/reference.h"

namespace spintag::fingerprint {
namespace {

constexpr std::uint64_t kKeys = std::uint64_t{1} << BroadcastProfile::hash_bits;
static_assert(BroadcastProfile::dt_bits == 7 && BroadcastProfile::hash_bits == 27);

std::uint32_t keys_per_bucket(std::uint32_t units) {
  const std::uint64_t fit =
      std::numeric_limits<std::uint32_t>::max() / std::max<std::uint64_t>(units, 1);
  return static_cast<std::uint32_t>(std::min(fit, kKeys));
}

std::size_t bucket_count(std::uint32_t per_bucket) { return (kKeys + per_bucket - 1) / per_bucket; }

/// The heap behind a shard that was built, not mapped.
struct Owned {
  std::vector<ShardTrack> tracks;
  std::vector<std::uint32_t> directory;
  std::vector<std::uint32_t> words;
  std::vector<std::byte> packed;
  std::vector<char> metadata;
  std::uint32_t units = 0;

  ShardArrays arrays() const { return {tracks, directory, words, packed, metadata, units}; }
};

void lay_out(std::span<const IndexTrack> tracks, Owned& owned) {
  std::uint64_t units = 0;
  std::size_t packed_bytes = 0;
  std::size_t metadata_bytes = 0;
  for (const IndexTrack& track : tracks) {
    packed_bytes += track.packed.size();
    metadata_bytes += track.metadata.size();
  }
  owned.tracks.reserve(tracks.size());
  owned.packed.reserve(packed_bytes);
  owned.metadata.reserve(metadata_bytes);
  for (const IndexTrack& track : tracks) {
    const std::uint64_t length = IndexShard::units_of(track.duration_s);
    owned.tracks.push_back({.track_id = track.track_id,
                            .duration_s = track.duration_s,
                            .packed_begin = owned.packed.size(),
                            .metadata_begin = owned.metadata.size(),
                            .packed_bytes = static_cast<std::uint32_t>(track.packed.size()),
                            .metadata_bytes = static_cast<std::uint32_t>(track.metadata.size()),
                            .first_unit = static_cast<std::uint32_t>(units),
                            .units = static_cast<std::uint32_t>(length)});
    owned.packed.insert(owned.packed.end(), track.packed.begin(), track.packed.end());
    owned.metadata.insert(owned.metadata.end(), track.metadata.begin(), track.metadata.end());
    units += length;
    if (units > IndexShard::kMaxUnits)
      throw IndexError("index shard: over 2^30 time units of 20 ms");
  }
  owned.units = static_cast<std::uint32_t>(units);
}

/// Calls on_landmark(hash, unit) for every landmark of every track.
template <class OnLandmark>
void for_each_landmark(const Owned& owned, OnLandmark&& on_landmark) {
  std::vector<Landmark> landmarks;
  for (const ShardTrack& track : owned.tracks) {
    std::vector<Peak> peaks;
    try {
      peaks = unpack_peaks(std::span(owned.packed).subspan(track.packed_begin, track.packed_bytes));
    } catch (const std::invalid_argument& error) {
      throw IndexError("track " + std::to_string(track.track_id) + ": " + error.what());
    }
    landmarks.clear();
    make_reference_landmarks(peaks, landmarks);
    for (const Landmark& landmark : landmarks) {
      const auto unit = static_cast<std::uint32_t>(landmark.anchor_time_s / IndexShard::kUnitS);
      if (unit < track.units) on_landmark(landmark.hash, track.first_unit + unit);
    }
  }
}

}  // namespace

std::uint64_t IndexShard::units_of(double duration_s) {
  return static_cast<std::uint64_t>(std::ceil(std::max(0.0, duration_s) / kUnitS)) + 1;
}

std::shared_ptr<const IndexShard> IndexShard::build(std::span<const IndexTrack> tracks) {
  auto owned = std::make_shared<Owned>();
  lay_out(tracks, *owned);
  const std::uint32_t per_bucket = keys_per_bucket(owned->units);
  owned->directory.assign(bucket_count(per_bucket) + 1, 0);

  for_each_landmark(*owned, [&](std::uint32_t hash, std::uint32_t) {
    ++owned->directory[key_of(hash) / per_bucket];
  });
  std::uint64_t total = 0;
  for (std::uint32_t& entry : owned->directory) {
    total += entry;
    if (total > std::numeric_limits<std::uint32_t>::max())
      throw IndexError("index shard: over 2^32 postings");
    entry = static_cast<std::uint32_t>(
        total);  // one past the bucket; placing moves it to its first word
  }
  owned->words.resize(total);
  for_each_landmark(*owned, [&](std::uint32_t hash, std::uint32_t unit) {
    const std::uint32_t key = key_of(hash);
    owned->words[--owned->directory[key / per_bucket]] = key % per_bucket * owned->units + unit;
  });
  for (std::size_t bucket = 0; bucket + 1 < owned->directory.size(); ++bucket) {
    std::sort(owned->words.begin() + owned->directory[bucket],
              owned->words.begin() + owned->directory[bucket + 1]);
  }
  return std::make_shared<IndexShard>(owned->arrays(), owned);
}

IndexShard::IndexShard(const ShardArrays& arrays, std::shared_ptr<const void> owner)
    : arrays_(arrays),
      owner_(std::move(owner)),
      keys_per_bucket_(keys_per_bucket(arrays.units)),
      reciprocal_(std::numeric_limits<std::uint64_t>::max() / keys_per_bucket_ + 1) {
  if (arrays_.directory.size() != bucket_count(keys_per_bucket_) + 1) {
    throw IndexError("index shard: the directory does not fit the time line");
  }
  by_id_.resize(arrays_.tracks.size());
  std::iota(by_id_.begin(), by_id_.end(), 0U);
  std::sort(by_id_.begin(), by_id_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return arrays_.tracks[a].track_id < arrays_.tracks[b].track_id;
  });
}

std::shared_ptr<const IndexShard> IndexShard::without(std::span<const TrackId> removed) const {
  auto copy = std::make_shared<IndexShard>(*this);
  copy->removed_.resize(arrays_.tracks.size());
  for (const TrackId track_id : removed) {
    if (const auto track = copy->find(track_id)) {
      copy->removed_[*track] = true;
      ++copy->removed_count_;
    }
  }
  return copy;
}

std::shared_ptr<const IndexShard> IndexShard::compacted() const {
  if (removed_count_ == 0) return shared_from_this();
  std::vector<IndexTrack> tracks;
  append_live(tracks);
  return build(tracks);
}

void IndexShard::append_live(std::vector<IndexTrack>& tracks) const {
  for (std::size_t i = 0; i < arrays_.tracks.size(); ++i) {
    if (!is_live(i)) continue;
    const ShardTrack& track = arrays_.tracks[i];
    tracks.push_back(
        {track.track_id, track.duration_s, packed(track), std::string(metadata(track))});
  }
}

std::optional<std::size_t> IndexShard::find(TrackId track_id) const {
  const auto found = std::lower_bound(
      by_id_.begin(), by_id_.end(), track_id,
      [this](std::uint32_t number, TrackId id) { return arrays_.tracks[number].track_id < id; });
  if (found == by_id_.end() || arrays_.tracks[*found].track_id != track_id || !is_live(*found))
    return std::nullopt;
  return *found;
}

std::size_t IndexShard::track_at(std::uint32_t unit) const {
  const auto next = std::upper_bound(
      arrays_.tracks.begin(), arrays_.tracks.end(), unit,
      [](std::uint32_t value, const ShardTrack& track) { return value < track.first_unit; });
  return static_cast<std::size_t>(next - arrays_.tracks.begin()) - 1;
}

std::size_t IndexShard::resident_bytes() const {
  return arrays_.tracks.size_bytes() + arrays_.directory.size_bytes() + arrays_.words.size_bytes() +
         arrays_.packed.size_bytes() + by_id_.size() * sizeof(by_id_[0]) + removed_.size() / 8;
}

}  // namespace spintag::fingerprint
