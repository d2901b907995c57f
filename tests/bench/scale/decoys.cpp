// tests/bench/scale/decoys.cpp - real tracks and decoys, told to an index as one catalogue.
#include "tests/bench/scale/decoys.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fingerprint/index_shard.h"

namespace spintag::bench {
namespace {

using fingerprint::IndexTrack;
using fingerprint::TrackId;

/// So that names sort as numbers do, up to a million.
constexpr std::size_t kNameDigits = 6;

}  // namespace

std::string decoy_metadata(std::size_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < kNameDigits) digits.insert(0, kNameDigits - digits.size(), '0');
  return R"({"source":"decoy-)" + digits + R"(","title":"Decoy )" + std::to_string(number) +
         R"(","artist":"spintag_scale_decoys"})";
}

TrackId first_decoy_id(const fingerprint::Index& real) {
  const std::vector<TrackId> ids = real.track_ids();
  if (ids.empty()) return 1;
  if (ids.back() == std::numeric_limits<TrackId>::max())
    throw fingerprint::IndexError("the highest track id leaves none for decoys");
  return std::max<TrackId>(ids.back() + 1, 1);
}

std::shared_ptr<const fingerprint::Index> with_decoys(const fingerprint::Index& real,
                                                      const Catalogue& catalogue, std::size_t count,
                                                      unsigned threads) {
  const TrackId first = first_decoy_id(real);
  if (count > static_cast<std::uint64_t>(std::numeric_limits<TrackId>::max() - first) + 1)
    throw fingerprint::IndexError("the highest track id leaves too few for " +
                                  std::to_string(count) + " decoys");
  std::vector<IndexTrack> tracks;
  tracks.reserve(real.track_count() + count);
  for (const auto& shard : real.shards()) shard->append_live(tracks);
  const std::vector<fingerprint::PackedPeaks> songs = catalogue.songs(count, threads);
  for (std::size_t i = 0; i < songs.size(); ++i)
    tracks.push_back(
        {first + static_cast<TrackId>(i), catalogue.params().song_s, songs[i], decoy_metadata(i)});
  return fingerprint::Index::build(tracks, threads);
}

}  // namespace spintag::bench
