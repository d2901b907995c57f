// daemon/melody_book.h - the melodies of the catalogue, in memory, and whose they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "db/store.h"
#include "fingerprint/melody/melody_index.h"
#include "fingerprint/melody/melody_matcher.h"

namespace spintag::daemon {

/// A track that may be what somebody hums.
struct HummedTrack {
  std::int64_t track_id = 0;
  /// Cost of the best way to sing it, some 1.5 a note if sung as written; comparable within one
  /// hum.
  double distance = 0;
  friend bool operator==(const HummedTrack&, const HummedTrack&) = default;
};

/// Reading is safe from several threads.
class MelodyBook {
 public:
  /// @param on_fault  is told of every melody that cannot be used, and whose it is
  /// @throws db::StoreError
  MelodyBook(db::Store& store, const std::function<void(const std::string&)>& on_fault);

  const fingerprint::MelodyIndex& index() const { return index_; }

  /// The tracks of the melodies that were found, each once, by its best melody; the best first.
  /// Melodies that were not judged note by note are left out: their costs compare with nothing.
  std::vector<HummedTrack> tracks(std::span<const fingerprint::MelodyMatch> found,
                                  std::size_t most) const;

 private:
  fingerprint::MelodyIndex index_;
  std::vector<std::int64_t> track_ids_;  ///< by melody
};

}  // namespace spintag::daemon
