// db/store.h - the PostgreSQL store: catalogue, fingerprints, plays, outbox and change log.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace spintag::db {

/// The store refused or failed. `kind()` tells a caller whether to retry, to stop or to blame the
/// input.
class StoreError : public std::runtime_error {
 public:
  enum class Kind {
    unreachable,  ///< no server, wrong password, connection lost: exit status 3
    refused,      ///< the data or the request is wrong: the message says what
    schema,       ///< the database was made by a newer spintag, or is not ours
  };
  StoreError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

using TimePoint = std::chrono::sys_time<std::chrono::microseconds>;  ///< UTC

/// What people know about a recording. Empty means unknown.
struct TrackInfo {
  std::string title;
  std::string artist;
  std::string album;
  std::string label;
  std::string composer;
  std::vector<std::string> isrcs;
  std::string recording_mbid;
  std::string extra_json = "{}";  ///< a JSON object, free
};

struct Track {
  std::int64_t track_id = 0;
  TrackInfo info;
  std::string source;        ///< the path as the user gave it
  std::string content_hash;  ///< of the audio, tags aside
  std::int64_t source_size = 0;
  std::int64_t source_mtime_ns = 0;
  double duration_s = 0;
  std::int64_t landmarks = 0;
  TimePoint ingested_at{};
};

/// The melodies of a track that were got in one way, packed together; a track has at most one such
/// a method.
struct NewMelodies {
  std::string method;  ///< "midi", "notes", "recording"
  int method_version = 0;
  std::span<const std::byte> packed;
};

/// One track to store, whole or not at all.
struct NewTrack {
  TrackInfo info;
  std::string source;
  std::string content_hash;
  std::int64_t source_size = 0;
  std::int64_t source_mtime_ns = 0;
  double duration_s = 0;
  std::int64_t landmarks = 0;
  std::string profile;  ///< "broadcast"; empty = no fingerprint: there is no recording
  int profile_version = 0;
  std::span<const std::byte> packed;
  std::span<const NewMelodies> melodies;
};

struct PutResult {
  enum class What { added, replaced, already_there };
  std::int64_t track_id = 0;
  What what = What::added;
  std::string source;  ///< of the track, where it was known by its content
};

struct Fingerprint {
  std::int64_t track_id = 0;
  double duration_s = 0;
  std::vector<std::byte> packed;
};

struct Melodies {
  std::int64_t track_id = 0;
  std::string method;
  int method_version = 0;
  std::vector<std::byte> packed;
};

struct Change {
  enum class What { upsert, remove };
  std::int64_t change_id = 0;
  std::int64_t track_id = 0;
  What what = What::upsert;
};

struct Play {
  std::int64_t play_id = 0;  ///< 0 = not stored yet
  std::string station;
  std::int64_t track_id = 0;
  TimePoint started_at{};
  std::optional<TimePoint> ended_at;
  TimePoint detected_at{};
  double track_start_s = 0;  ///< where in the track the play began
  double confidence = 0;
  double score = 0;
  double speed = 1;
  double pitch = 1;
  std::string method = "landmark";
  std::string stream_title;    ///< the encoder's hint when it began
  double time_accuracy_s = 0;  ///< of started_at and ended_at
  std::string track_json =
      "{}";  ///< the track as it was when it played, so that a removed track keeps its log
};

/// Unmatched time of a station: silence, speech, music (unknown) or lost.
struct Segment {
  std::int64_t segment_id = 0;
  std::string station;
  std::string kind;
  TimePoint started_at{};
  std::optional<TimePoint> ended_at;
};

/// One event for one sink. `state` events are perishable, `log` events are not (delivered in order
/// for each station).
struct OutboxEvent {
  std::int64_t outbox_id = 0;
  std::string event_id;  ///< webhook-id, the same on every retry
  std::string station;
  std::string sink;
  std::string type;  ///< track.started, ...
  bool is_log = false;
  std::string body;  ///< JSON text as it is sent and signed
  TimePoint created_at{};
  int attempts = 0;
};

struct OutboxCounts {
  std::int64_t waiting = 0;
  std::int64_t delivered = 0;
  std::int64_t dropped = 0;  ///< superseded or too old
  std::int64_t dead = 0;
};

struct PlayFilter {
  std::string station;  ///< empty = all
  std::optional<TimePoint> from;
  std::optional<TimePoint> to;
  std::size_t limit = 0;  ///< 0 = all; otherwise the newest
};

struct Sizes {
  std::int64_t tracks = 0;
  std::int64_t total_bytes = 0;  ///< all tables and indexes that grow with the catalogue
  std::int64_t fingerprint_bytes = 0;
};

/// One connection. Single-threaded: one Store per worker. A call that loses the connection throws
/// StoreError(unreachable) and leaves nothing half done; the next call connects again, and so does
/// a call that finds the connection gone. Text may hold any bytes: those that are not UTF-8, and
/// NUL, become U+FFFD. `source` comes back as it was, byte for byte.
class Store {
 public:
  /// Connects and brings the schema up to date (numbered migrations under an advisory lock).
  /// @param url  a libpq URL or connection string
  explicit Store(std::string url);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // --- catalogue
  /// One transaction: track, fingerprint, melodies, change_log. Idempotent by content_hash, also
  /// between processes; the same source with other content replaces that track's audio and tags and
  /// keeps its id. Known content without a fingerprint of this profile and version, or without
  /// these melodies (method, version and bytes), gets them (`replaced`).
  PutResult put_track(const NewTrack& track);
  /// Several, as if put one after another, in one transaction: all of them or none. A few dozen
  /// at most, since each holds two of the server's locks until the end, beside those of other
  /// clients.
  std::vector<PutResult> put_tracks(std::span<const NewTrack> tracks);
  std::optional<Track> find_track(std::int64_t track_id);
  std::optional<Track> find_by_hash(const std::string& content_hash);
  std::optional<Track> find_by_source(const std::string& source);
  /// By track_id, a page at a time; `visit` may use this store.
  void for_each_track(const std::function<void(const Track&)>& visit);
  /// @return false if there is no such track
  bool edit_track(std::int64_t track_id, const TrackInfo& info);
  bool remove_track(std::int64_t track_id);

  // --- fingerprints, melodies and changes
  /// Streams every fingerprint of a profile (COPY), in no order, in constant memory; `visit` must
  /// not use this store. Call inside with_snapshot() to pair it with newest_change().
  void for_each_fingerprint(const std::string& profile, int version,
                            const std::function<void(Fingerprint&&)>& visit);
  std::vector<Fingerprint> fingerprints(const std::string& profile, int version,
                                        std::span<const std::int64_t> track_ids);
  std::int64_t count_fingerprints(const std::string& profile, int version);
  /// In the place of what the track had of this method. @return false if there is no such track
  bool put_melodies(std::int64_t track_id, const NewMelodies& melodies);
  /// As for_each_fingerprint(): all methods and versions.
  void for_each_melodies(const std::function<void(Melodies&&)>& visit);
  /// Of these tracks, by track_id and method.
  std::vector<Melodies> melodies(std::span<const std::int64_t> track_ids);
  /// Runs `body` in one repeatable-read transaction, so that what it reads belongs together.
  /// Changes in it are refused.
  void with_snapshot(const std::function<void()>& body);
  std::int64_t newest_change();  ///< 0 = none yet
  /// In order of change_id, which is the order of commits: none appears behind one that was seen.
  /// limit 0 = all.
  std::vector<Change> changes_after(std::int64_t change_id, std::size_t limit);

  // --- plays and outbox
  /// One transaction: the play and its events. Fills play.play_id; the bodies are made by
  /// `make_events` (may be empty) from the stored play, inside the transaction; it must not use
  /// this store. To begin the same play again (station, track and start), as after a lost answer,
  /// gives the id that it has, and no events.
  std::int64_t begin_play(Play& play,
                          const std::function<std::vector<OutboxEvent>(const Play&)>& make_events);
  void update_play(const Play& play,
                   const std::function<std::vector<OutboxEvent>(const Play&)>& make_events);
  std::vector<Play> plays(const PlayFilter& filter);  ///< by start; those that began in [from, to)
  void for_each_play(const PlayFilter& filter, const std::function<void(const Play&)>& visit);
  /// Plays without an end, such as a killed daemon leaves. Empty = of all stations.
  std::vector<Play> open_plays(const std::string& station);
  std::int64_t put_segment(Segment& segment, const std::vector<OutboxEvent>& events);
  void update_segment(const Segment& segment);
  std::vector<Segment> segments(const PlayFilter& filter);
  /// An event that is there already (event_id, station, sink) stays as it is, so a spool may be put
  /// again. An empty event_id gets a random one, an empty created_at the present.
  void put_events(const std::vector<OutboxEvent>& events);

  /// Takes events that are due (FOR UPDATE SKIP LOCKED, leased for `lease`): state events
  /// newest-wins for a station and sink (superseded ones are marked dropped), log events only when
  /// no earlier one of that station and sink waits. A newer state event waits while an older one is
  /// leased. `attempts` counts those before this one. Settled events are deleted after 30 days;
  /// their counts stay.
  std::vector<OutboxEvent> take_due_events(std::size_t limit, std::chrono::seconds lease);
  /// The same, of one sink only, so that each sink's thread takes its own.
  std::vector<OutboxEvent> take_due_events(const std::string& sink, std::size_t limit,
                                           std::chrono::seconds lease);
  void mark_delivered(std::int64_t outbox_id);
  void mark_dropped(std::int64_t outbox_id, const std::string& reason);
  void mark_retry(std::int64_t outbox_id, TimePoint not_before, const std::string& error);
  void mark_dead(std::int64_t outbox_id, const std::string& error);
  std::vector<OutboxEvent> dead_events(std::size_t limit);
  std::int64_t replay_dead();
  OutboxCounts outbox_counts();

  // --- about
  Sizes sizes();
  std::string server_version();
  int schema_version();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spintag::db
