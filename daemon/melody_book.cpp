// daemon/melody_book.cpp - the melodies of the catalogue, in memory, and whose they are.
#include "daemon/melody_book.h"

#include <cmath>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "daemon/track_melodies.h"

namespace spintag::daemon {

MelodyBook::MelodyBook(db::Store& store, const std::function<void(const std::string&)>& on_fault) {
  const auto take = [&](std::int64_t track_id, fingerprint::Melody&& melody) {
    try {
      index_.add(std::move(melody));
      track_ids_.push_back(track_id);
    } catch (const std::invalid_argument& error) {
      on_fault("track " + std::to_string(track_id) + ": its melody: " + error.what());
    }
  };
  for_each_melody(store, take, on_fault);
}

std::vector<HummedTrack> MelodyBook::tracks(std::span<const fingerprint::MelodyMatch> found,
                                            std::size_t most) const {
  std::vector<HummedTrack> tracks;
  std::unordered_set<std::int64_t> named;
  for (const fingerprint::MelodyMatch& match : found) {
    if (tracks.size() == most) break;
    if (!match.judged || !std::isfinite(match.cost)) continue;
    const std::int64_t track_id = track_ids_[match.melody];
    if (named.insert(track_id).second) tracks.push_back({track_id, match.cost});
  }
  return tracks;
}

}  // namespace spintag::daemon
