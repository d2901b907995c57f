// daemon/tune_book.cpp - the melodies that unknown music is compared with, kept equal to the store.
#include "daemon/tune_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/track_melodies.h"

namespace spintag::daemon {

namespace {

// More at once are as quickly read all together.
constexpr std::size_t kChangesAtOnce = 2'000;

}  // namespace

void TuneBook::refresh(db::Store& store, const std::stop_token& stop,
                       const std::function<void(const std::string&)>& on_fault) {
  if (cursor_ < 0) return read_all(store, stop, on_fault);
  const std::vector<db::Change> changes = store.changes_after(cursor_, kChangesAtOnce);
  if (changes.empty()) return;
  // Removed ones keep their place: when they are many, it is time to begin anew.
  if (changes.size() == kChangesAtOnce || 2 * index_.removed() > index_.size()) {
    return read_all(store, stop, on_fault);
  }
  std::vector<std::int64_t> tracks;
  for (const db::Change& change : changes) tracks.push_back(change.track_id);
  std::ranges::sort(tracks);
  tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
  const std::vector<db::Melodies> rows = store.melodies(tracks);
  for (const std::int64_t track_id : tracks) {
    const auto [begin, end] = melodies_of_track_.equal_range(track_id);
    for (auto at = begin; at != end; ++at) index_.remove(at->second);
    melodies_of_track_.erase(begin, end);
  }
  for (const db::Melodies& row : rows) {
    try {
      for (const fingerprint::Melody& melody : read_melodies(row)) add(row.track_id, melody);
    } catch (const fingerprint::MelodyError& error) {
      on_fault(error.what());
    }
  }
  cursor_ = changes.back().change_id;
}

void TuneBook::read_all(db::Store& store, const std::stop_token& stop,
                        const std::function<void(const std::string&)>& on_fault) {
  TuneBook fresh(most_);
  store.with_snapshot([&] {
    fresh.cursor_ = store.newest_change();
    for_each_melody(
        store,
        [&](std::int64_t track_id, fingerprint::Melody&& melody) {
          if (stop.stop_requested()) throw Interrupted{};
          fresh.add(track_id, melody);
        },
        on_fault);
  });
  *this = std::move(fresh);
}

void TuneBook::add(std::int64_t track_id, const fingerprint::Melody& melody) {
  if (melody.notes.empty()) return;
  if (melodies() >= most_) {
    throw TooMany(fmt::format("the catalogue has more than {} melodies", most_));
  }
  melodies_of_track_.emplace(track_id, index_.add(melody));
  track_ids_.push_back(track_id);
}

}  // namespace spintag::daemon
