// daemon/tune_book.h - the melodies that unknown music is compared with, kept equal to the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "db/store.h"
#include "fingerprint/melody/tune_index.h"

namespace spintag::daemon {

/// Every melody of the catalogue, however it was got: half a KiB a minute. Single-threaded.
class TuneBook {
 public:
  /// A question about one takes a core 1 ms: so many still have an answer while the music plays.
  static constexpr std::size_t kMostMelodies = 20'000;

  explicit TuneBook(std::size_t most = kMostMelodies) : most_(most) {}

  /// Reads all melodies at the first call and what has changed since at later ones.
  /// @param on_fault  is told of every melody that cannot be used, and whose it is
  /// @param stop      ends it soon
  /// @throws db::StoreError, or Interrupted by `stop`: then it is as it was; or TooMany: then it is
  /// of no use any more
  void refresh(db::Store& store, const std::stop_token& stop,
               const std::function<void(const std::string&)>& on_fault);

  struct Interrupted {};
  struct TooMany : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  const fingerprint::TuneIndex& index() const { return index_; }
  std::int64_t track_of(std::uint32_t melody) const { return track_ids_[melody]; }
  std::size_t melodies() const { return index_.size() - index_.removed(); }

 private:
  void read_all(db::Store& store, const std::stop_token& stop,
                const std::function<void(const std::string&)>& on_fault);
  void add(std::int64_t track_id, const fingerprint::Melody& melody);

  std::size_t most_;
  fingerprint::TuneIndex index_;
  std::vector<std::int64_t> track_ids_;                           ///< by melody
  std::multimap<std::int64_t, std::uint32_t> melodies_of_track_;  ///< numbers, not removed ones
  std::int64_t cursor_ = -1;                                      ///< change_log; -1 = nothing read
};

}  // namespace spintag::daemon
