// fingerprint/index.cpp - the list of shards: changes go to small shards, which are merged as they
// multiply.
#include "fingerprint/index.h"

#include <algorithm>

#include "fingerprint/index_shard.h"

namespace spintag::fingerprint {
namespace {

using Shard = std::shared_ptr<const IndexShard>;

/// Shards of at most IndexShard::kMaxUnits each.
void build_shards(std::span<const IndexTrack> tracks, unsigned threads,
                  std::vector<Shard>& shards) {
  std::size_t first = 0;
  std::uint64_t units = 0;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const std::uint64_t length = IndexShard::units_of(tracks[i].duration_s);
    if (units + length > IndexShard::kMaxUnits) {
      shards.push_back(IndexShard::build(tracks.subspan(first, i - first), threads));
      first = i;
      units = 0;
    }
    units += length;
  }
  if (first < tracks.size()) shards.push_back(IndexShard::build(tracks.subspan(first), threads));
}

/// Logarithmic method (Bentley and Saxe 1980): a shard is merged with the one before it while that
/// is not at least twice as large, so that a catalogue of n tracks has O(log n) shards and a track
/// is placed O(log n) times.
void merge_small(std::vector<Shard>& shards) {
  std::sort(shards.begin(), shards.end(),
            [](const Shard& a, const Shard& b) { return a->live_tracks() > b->live_tracks(); });
  while (shards.size() > 1) {
    const IndexShard& last = *shards.back();
    const IndexShard& before = *shards[shards.size() - 2];
    const std::uint64_t units = std::uint64_t{last.arrays().units} + before.arrays().units;
    if (before.live_tracks() >= 2 * last.live_tracks() || units > IndexShard::kMaxUnits) break;
    std::vector<IndexTrack> tracks;
    before.append_live(tracks);
    last.append_live(tracks);
    Shard merged = IndexShard::build(tracks);
    shards.pop_back();
    shards.back() = std::move(merged);
  }
}

}  // namespace

Index::Index() = default;
Index::~Index() = default;

std::shared_ptr<const Index> Index::build(std::span<const IndexTrack> tracks, unsigned threads) {
  auto index = std::make_shared<Index>();
  build_shards(tracks, threads, index->shards_);
  return index;
}

std::shared_ptr<const Index> Index::changed(std::span<const IndexTrack> added,
                                            std::span<const TrackId> removed) const {
  std::vector<TrackId> gone(removed.begin(), removed.end());
  for (const IndexTrack& track : added) gone.push_back(track.track_id);

  auto index = std::make_shared<Index>();
  for (const Shard& shard : shards_) {
    const bool touched = std::any_of(gone.begin(), gone.end(),
                                     [&](TrackId id) { return shard->find(id).has_value(); });
    Shard kept = touched ? shard->without(gone) : shard;
    if (kept->live_tracks() == 0) continue;
    const bool mostly_dead = kept->live_tracks() * 2 < kept->arrays().tracks.size();
    if (mostly_dead) kept = kept->compacted();
    index->shards_.push_back(std::move(kept));
  }
  build_shards(added, 0, index->shards_);
  merge_small(index->shards_);
  return index;
}

std::size_t Index::track_count() const {
  std::size_t count = 0;
  for (const Shard& shard : shards_) count += shard->live_tracks();
  return count;
}

double Index::length_s() const {
  double length_s = 0;
  for (const auto& shard : shards_) length_s += shard->arrays().units * IndexShard::kUnitS;
  return length_s;
}

std::size_t Index::posting_count() const {
  std::size_t count = 0;
  for (const Shard& shard : shards_) count += shard->arrays().words.size();
  return count;
}

std::size_t Index::resident_bytes() const {
  std::size_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard->resident_bytes();
  return bytes;
}

bool Index::contains(TrackId track_id) const {
  return std::any_of(shards_.begin(), shards_.end(),
                     [&](const Shard& shard) { return shard->find(track_id).has_value(); });
}

double Index::duration_s(TrackId track_id) const {
  for (const Shard& shard : shards_) {
    if (const auto track = shard->find(track_id)) return shard->arrays().tracks[*track].duration_s;
  }
  return 0;
}

std::string_view Index::metadata(TrackId track_id) const {
  for (const Shard& shard : shards_) {
    if (const auto track = shard->find(track_id))
      return shard->metadata(shard->arrays().tracks[*track]);
  }
  return {};
}

std::vector<TrackId> Index::track_ids() const {
  std::vector<TrackId> ids;
  for (const Shard& shard : shards_) {
    for (std::size_t i = 0; i < shard->arrays().tracks.size(); ++i) {
      if (shard->is_live(i)) ids.push_back(shard->arrays().tracks[i].track_id);
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace spintag::fingerprint
