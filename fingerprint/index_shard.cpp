// fingerprint/index_shard.cpp - a shard's tracks: found, removed, taken over into another shard.
#include "fingerprint/index_shard.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "fingerprint/profile.h"

namespace spintag::fingerprint {
namespace {

constexpr std::uint64_t kKeys = std::uint64_t{1} << BroadcastProfile::hash_bits;
static_assert(BroadcastProfile::dt_bits == 7 && BroadcastProfile::hash_bits == 27);

}  // namespace

std::uint32_t IndexShard::keys_per_bucket(std::uint32_t units) {
  const std::uint64_t fit =
      std::numeric_limits<std::uint32_t>::max() / std::max<std::uint64_t>(units, 1);
  return static_cast<std::uint32_t>(std::min(fit, kKeys));
}

std::size_t IndexShard::bucket_count(std::uint32_t per_bucket) {
  return (kKeys + per_bucket - 1) / per_bucket;
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
