// daemon/live_index.cpp - the index in memory, kept equal to the store.
#include "daemon/live_index.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/events.h"
#include "fingerprint/profile.h"

namespace spintag::daemon {

namespace {

using fingerprint::BroadcastProfile;
using fingerprint::Index;
using fingerprint::IndexTrack;
using fingerprint::TrackId;

constexpr std::size_t kChangesAtOnce = 500;  // bounds the memory of one step of refresh()

const std::string kProfile{BroadcastProfile::name};

// Fingerprints with their tracks' metadata, and the spans that Index wants over them.
struct Batch {
  std::vector<db::Fingerprint> prints;
  std::map<std::int64_t, std::string> metadata;

  std::vector<IndexTrack> tracks() {
    std::vector<IndexTrack> tracks;
    tracks.reserve(prints.size());
    for (const db::Fingerprint& print : prints) {
      tracks.push_back(
          {print.track_id, print.duration_s, print.packed, std::move(metadata[print.track_id])});
    }
    return tracks;
  }
};

// The whole catalogue and the change it stands for, read as of one moment.
std::pair<std::shared_ptr<const Index>, std::int64_t> build_from(db::Store& store) {
  Batch batch;
  std::int64_t cursor = 0;
  store.with_snapshot([&] {
    batch = {};  // a body that is run again starts anew
    cursor = store.newest_change();
    store.for_each_track(
        [&](const db::Track& track) { batch.metadata.emplace(track.track_id, track_json(track)); });
    store.for_each_fingerprint(kProfile, BroadcastProfile::version, [&](db::Fingerprint&& print) {
      batch.prints.push_back(std::move(print));
    });
  });
  return {Index::build(batch.tracks()), cursor};
}

}  // namespace

LiveIndex::LiveIndex(db::Store& store, std::filesystem::path snapshot_file)
    : snapshot_file_(std::move(snapshot_file)) {
  std::error_code ignored;
  if (!snapshot_file_.empty() && std::filesystem::exists(snapshot_file_, ignored)) {
    try {
      Index::Loaded loaded = Index::load(snapshot_file_);
      // A cursor from the future, or another number of fingerprints after catching up, is a
      // snapshot of some other database.
      if (loaded.stamp <= store.newest_change()) {
        index_ = std::move(loaded.index);
        cursor_ = saved_cursor_ = loaded.stamp;
        refresh(store);
        const auto prints =
            static_cast<std::size_t>(store.count_fingerprints(kProfile, BroadcastProfile::version));
        if (index_->track_count() == prints) return;
      }
      spdlog::info("the index cache {} is not of this database: rebuilding it",
                   snapshot_file_.string());
    } catch (const fingerprint::IndexError& error) {
      spdlog::warn("rebuilding the index cache: {}", error.what());
    }
  }
  std::tie(index_, cursor_) = build_from(store);
  saved_cursor_ = -1;
}

std::size_t LiveIndex::refresh(db::Store& store) {
  std::size_t changed = 0;
  for (;;) {
    const std::vector<db::Change> changes = store.changes_after(cursor(), kChangesAtOnce);
    if (changes.empty()) return changed;
    std::set<TrackId> touched;
    for (const db::Change& change : changes) touched.insert(change.track_id);
    const std::vector<TrackId> ids(touched.begin(), touched.end());

    // What the store has of them now is what counts, whatever became of them in between; a later
    // change will come by again.
    Batch batch;
    batch.prints = store.fingerprints(kProfile, BroadcastProfile::version, ids);
    std::set<TrackId> removed = touched;
    for (const db::Fingerprint& print : batch.prints) {
      removed.erase(print.track_id);
      if (const auto track = store.find_track(print.track_id)) {
        batch.metadata.emplace(print.track_id, track_json(*track));
      }
    }
    const std::vector<IndexTrack> added = batch.tracks();
    auto next = current()->changed(added, std::vector<TrackId>(removed.begin(), removed.end()));
    {
      const std::lock_guard lock(mutex_);
      index_ = std::move(next);
      cursor_ = changes.back().change_id;
    }
    changed += ids.size();
  }
}

std::shared_ptr<const Index> LiveIndex::current() const {
  const std::lock_guard lock(mutex_);
  return index_;
}

std::int64_t LiveIndex::cursor() const {
  const std::lock_guard lock(mutex_);
  return cursor_;
}

void LiveIndex::save_if_worthwhile() {
  if (snapshot_file_.empty()) return;
  const auto index = current();
  const std::int64_t stamp = cursor();
  // Reading a twentieth of the catalogue at the next start costs less than writing it all now.
  const auto worthwhile =
      std::max<std::int64_t>(20, static_cast<std::int64_t>(index->track_count() / 20));
  if (saved_cursor_ >= 0 && stamp - saved_cursor_ < worthwhile) return;
  index->save(snapshot_file_, stamp);
  saved_cursor_ = stamp;
}

}  // namespace spintag::daemon
