// daemon/tracker.h - window results in, plays out: decides what is on air on one stream, since when
// and until when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/candidates.h"
#include "daemon/play_edges.h"
#include "daemon/speed_memory.h"
#include "fingerprint/matcher.h"

namespace spintag::daemon {

/// What the tracker asks about the stream it follows. Times are seconds on the stream's clock.
class Recognition {
 public:
  virtual ~Recognition() = default;
  /// Known music in [start_s, end_s), best first; nothing below whole_nines.
  /// @param likely     speeds to look for
  /// @param any_speed  what they leave unknown is looked for at any speed; ten times the cost
  virtual std::vector<fingerprint::Alignment> search(
      double start_s, double end_s, const std::vector<fingerprint::Hypothesis>& likely,
      bool any_speed) = 0;
  /// Whether `known` goes on in [start_s, end_s); cheap.
  virtual std::optional<fingerprint::Alignment> follow(double start_s, double end_s,
                                                       const fingerprint::Alignment& known) = 0;
  /// Evidence for `known`, step by step over [start_s, end_s).
  virtual std::vector<fingerprint::Evidence> trace(double start_s, double end_s,
                                                   const fingerprint::Alignment& known) = 0;
  /// Length of a track, 0 when it is not known.
  virtual double duration_s(fingerprint::TrackId track_id) = 0;
};

/// Every number of the tracker, with its reason.
struct TrackerParams {
  // Looking.
  double short_window_s = 3;    ///< clean music is told from it
  double window_s = 5;          ///< tells nearly every song
  double long_window_s = 10;    ///< finds what speech or noise hides from 5 s, and new speeds
  double look_far_every_s = 1;  ///< at more than the short window, while nothing is suspected
  double search_every_s = 4;    ///< while a song is followed: a quarter of the cost of searching
  double share_drop = 0.75;     ///< followed song explains so much less than it did: search now
  SpeedParams speeds;

  // Believing. A wrong title on air is worse than a late one. Music that shares its samples with a
  // track is like it for some seconds, seldom from the track's beginning and seldom for long.
  // Measured on music that was left out of a catalogue whose tracks are made of the same loops:
  // from a track's beginning, 3 s of it reached more nines than 10 s of it; out of a track's
  // middle 10 s held on for half a minute. A surer single window brings songs at another speed
  // half a second later; a quarter less in the middle takes a remix for its original.
  CandidateParams candidates;
  double sure_nines = 3;       ///< of one window of a song: the station's threshold ...
  double summed_nines = 11;    ///< ... or of several under speech, that do not overlap
  double whole_nines = 1.3;    ///< and of all that is clear of it, 10 s at most
  double head_s = 20;          ///< of the track: a song begins there
  double middle_nines = 8;     ///< of 10 s of a song that comes out of its own middle ...
  double middle_heard_s = 20;  ///< ... and in which it must stand out
  double min_heard_s = 1.5;    ///< in which any track must stand out; less is a few shared notes
  /// Share of the track's peaks that must stand in the stream: processed radio keeps 0.7 and more,
  /// music that only shares its samples with a track rarely reaches 0.45.
  double min_share = 0.45;

  // Following.
  double hold_score = 12;      ///< evidence (decades) that keeps a song on air without searching
  double refit_score = 20;     ///< evidence that also moves its clock
  double refit_step_s = 0.15;  ///< a refit further off is another place of the song, not drift

  // Beginning and ending.
  double trace_back_s = 150;    ///< a song noticed later than this began unheard
  double end_after_s = 26;      ///< without evidence: bridge, window and one second
  double replaced_after_s = 8;  ///< without evidence while another song is on
  double past_end_s = 3;        ///< without evidence after the track's own end
  double max_overlap_s = 15;    ///< longer is no crossfade, but the same audio in two tracks
  double outdo = 1.2;           ///< a second song must have so many times the first one's score now
  double same_start_s = 3;      ///< two tracks that begin together are the same audio

  PlayEdgeParams edges;

  // The same song again.
  double reopen_within_s = 240;   ///< its clock went on: the same play, after an interruption
  double reopen_slack_s = 1;      ///< how far its clock may be off then ...
  double reopen_more_s = 2;       ///< and it must have been heard so much longer
  double reconnect_slack_s = 15;  ///< ... or when the stream was away meanwhile (a server bursts)
  double jump_within_s = 60;      ///< after its end it may go on at another place of itself
  double replay_head_s = 10;      ///< begins again within so much of its start ...
  double replay_tail_s = 20;      ///< ... after so little was left of it: a second play
};

/// One play on the stream's clock.
struct Spin {
  std::uint64_t spin_id = 0;  ///< of this tracker, 1, 2, ...
  fingerprint::TrackId track_id = 0;
  double start_s = 0;
  double end_s = 0;          ///< last evidence so far; the end when ended
  double track_start_s = 0;  ///< where in the track start_s falls
  double detected_s = 0;     ///< stream time at which it was decided
  double confidence = 0;
  double score = 0;
  double speed = 1;
  double pitch = 1;
};

struct SpinEvent {
  enum class What {
    started,
    ended,
    renamed,    ///< still on air, but it is another track than was said
    resumed,    ///< ended too early or open from before: on air (again)
    corrected,  ///< ended again after `resumed`, with another end
  };
  What what = What::started;
  Spin spin;
};

/// A play that was on air when the daemon was last stopped or killed.
struct OpenSpin {
  fingerprint::TrackId track_id = 0;
  double start_s = 0;  ///< on the new stream's clock, negative
  double last_seen_s = 0;
  double track_start_s = 0;
  double speed = 1;
  double pitch = 1;
  double confidence = 0;
  double slack_s = 15;       ///< two connections' clocks differ by what the server bursts
  double wait_until_s = 45;  ///< not heard by then: it has ended at last_seen_s
};

/// Pure logic: no thread, no wall clock, no socket. Single-threaded, one per stream.
class Tracker {
 public:
  explicit Tracker(const TrackerParams& params = {})
      : params_(params), speeds_(params.speeds), candidates_(params.candidates) {}

  /// Looks at what is newly final. Call it once or twice a second of the stream.
  /// @param heard_from_s  nothing before it can be heard (the stream began or came back there)
  /// @param until_s       everything before it can be heard; grows
  /// @param may_search    false = follow only (a matcher that cannot keep up)
  void tick(Recognition& recognition, double heard_from_s, double until_s, bool may_search,
            std::vector<SpinEvent>& events);

  /// The stream was away: what is on air gets its time again to be heard.
  void resume_at(double at_s) { grace_from_s_ = at_s; }

  /// Ends everything at its last evidence.
  void end_all(Recognition& recognition, std::vector<SpinEvent>& events);

  /// Tells of a play from before. Call it before the first tick. @return its spin_id
  std::uint64_t expect(const OpenSpin& open);

  /// What is on air, the oldest first.
  std::vector<Spin> on_air() const;
  std::uint64_t searches() const { return searches_; }

 private:
  struct OnAir {
    Spin spin;
    fingerprint::Alignment clock;  ///< newest good fit, over its window
    double held_until_s = 0;
    double share = 0;      ///< of peaks found, smoothed
    double score_now = 0;  ///< of the newest window that held it
    bool resumed = false;  ///< its end has been told before
  };
  struct Past {
    Spin spin;
    fingerprint::Alignment clock;
    double slack_s = 0;
    double expires_s = 0;
    bool open = false;  ///< its end has not been told
  };

  void follow(Recognition& recognition, double until_s);
  bool wants_search(double until_s) const;
  void search(Recognition& recognition, double heard_from_s, double until_s,
              std::vector<SpinEvent>& events);
  bool explained(const fingerprint::Alignment& found, double until_s);
  std::vector<fingerprint::Alignment> look(Recognition& recognition, double heard_from_s,
                                           double until_s);
  std::vector<fingerprint::Hypothesis> likely_speeds() const;
  void admit(Recognition& recognition, const fingerprint::Alignment& found, double heard_from_s,
             double until_s, std::vector<SpinEvent>& events);
  bool enough(Recognition& recognition, const fingerprint::Alignment& found, double start_s,
              const Audible& audible, double heard_from_s, double until_s) const;
  bool continues_running(const fingerprint::Alignment& found, Recognition& recognition,
                         double start_s, double until_s, std::vector<SpinEvent>& events);
  bool continues_past(const fingerprint::Alignment& found, Recognition& recognition,
                      const fingerprint::Extent& heard, double until_s,
                      std::vector<SpinEvent>& events);
  bool shares_audio(const fingerprint::Alignment& found, double start_s, double until_s) const;
  bool rename_running(const fingerprint::Alignment& found, double start_s, double until_s,
                      std::vector<SpinEvent>& events);
  void start(const fingerprint::Alignment& found, double start_s, double until_s,
             std::vector<SpinEvent>& events);
  void end_stale(Recognition& recognition, double until_s, std::vector<SpinEvent>& events);
  void end(Recognition& recognition, OnAir& play, double until_s, std::vector<SpinEvent>& events);
  bool is_replay(Recognition& recognition, const Spin& before, const fingerprint::Alignment& clock,
                 const fingerprint::Alignment& found, double start_s) const;
  void close_expired(double until_s, bool all_open, std::vector<SpinEvent>& events);
  bool held(const OnAir& play, double until_s) const;

  TrackerParams params_;
  std::vector<OnAir> on_air_;
  SpeedMemory speeds_;
  Candidates candidates_;
  std::vector<Past> past_;
  double grace_from_s_ = -1e9;
  double looked_far_s_ = -1e9;
  double last_search_s_ = -1e9;
  double known_until_s_ = -1e9;  ///< newest moment at which a song was held
  bool share_fell_ = false;
  std::uint64_t next_id_ = 1;
  std::uint64_t searches_ = 0;
};

}  // namespace spintag::daemon
