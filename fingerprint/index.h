// fingerprint/index.h - the catalogue in memory: hash -> postings, and each track's own peaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace spintag::fingerprint {

using TrackId = std::int64_t;

/// An index or snapshot that cannot be built, read or written. The message names the file and what
/// to do.
class IndexError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the index is told about a track.
struct IndexTrack {
  TrackId track_id = 0;
  double duration_s = 0;
  std::span<const std::byte> packed;  ///< PackedPeaks of the current profile; copied
  std::string metadata;  ///< kept as it is and given back; a JSON object in snapshots for `identify
                         ///< --index`
};

class IndexShard;

/// Immutable and shared: readers hold a shared_ptr while a changed copy takes its place. Copies
/// share their shards, so a change costs what changed (small shards are merged as they multiply).
class Index {
 public:
  Index();
  ~Index();

  /// @param threads  at most so many; 0 = one for each core. The index is the same.
  /// @throws IndexError on a damaged print or one of over 2^32 time units
  static std::shared_ptr<const Index> build(std::span<const IndexTrack> tracks,
                                            unsigned threads = 0);

  /// This index without `removed` and with `added` (which replace tracks of the same id).
  std::shared_ptr<const Index> changed(std::span<const IndexTrack> added,
                                       std::span<const TrackId> removed) const;

  /// Writes a checksummed snapshot, whole or not at all (temporary file, fsync, rename).
  /// @param stamp  what the snapshot stands for, such as a change_log cursor; read back by load()
  void save(const std::filesystem::path& file, std::int64_t stamp) const;

  struct Loaded;
  /// Maps a snapshot. @throws IndexError naming the file if it is missing, damaged or of another
  /// profile version
  static Loaded load(const std::filesystem::path& file);

  std::size_t track_count() const;
  std::size_t posting_count() const;
  double length_s() const;  ///< of all tracks
  std::size_t resident_bytes()
      const;  ///< everything that recognition needs: postings, directory, peaks, track table
  bool contains(TrackId track_id) const;
  double duration_s(TrackId track_id) const;          ///< 0 when unknown
  std::string_view metadata(TrackId track_id) const;  ///< empty when unknown
  std::vector<TrackId> track_ids() const;

  const std::vector<std::shared_ptr<const IndexShard>>& shards() const { return shards_; }

 private:
  std::vector<std::shared_ptr<const IndexShard>> shards_;
};

struct Index::Loaded {
  std::shared_ptr<const Index> index;
  std::int64_t stamp = 0;
};

}  // namespace spintag::fingerprint
