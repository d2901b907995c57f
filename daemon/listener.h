// daemon/listener.h - one station's samples in, its plays and unmatched segments out: everything of
// a station that needs neither a socket nor a clock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/match_service.h"
#include "daemon/segmenter.h"
#include "daemon/sound_meter.h"
#include "daemon/tracker.h"
#include "fingerprint/extractor.h"
#include "fingerprint/index.h"
#include "fingerprint/level_map.h"

namespace spintag::daemon {

struct ListenerParams {
  double min_confidence = 0.999;  ///< of a play: the station's threshold
  double memory_s = 240;          ///< peaks are kept so long: a start is traced back in them
  TrackerParams tracker;
  SegmenterParams segmenter;
  SoundParams sound;
};

/// What a push brought to light, in order.
struct Findings {
  std::vector<SpinEvent> spins;
  std::vector<SegmentEdge> segments;
};

/// Samples at BroadcastProfile::rate_hz -> PeakExtractor -> peaks of the last minutes ->
/// MatchService -> Tracker, and SoundMeter -> Segmenter beside them. The newest peaks are a
/// preview, because waiting until they are final would make every tag two and a half seconds later.
/// Times are seconds on the stream's clock, which counts samples and jumps over the time a
/// connection was away. How the samples are cut changes nothing. Single-threaded.
class Listener final : private Recognition {
 public:
  using CurrentIndex = std::function<std::shared_ptr<const fingerprint::Index>()>;

  /// @param index  gives the index to ask at this moment
  Listener(MatchService& matching, CurrentIndex index, const ListenerParams& params = {});
  ~Listener() override = default;

  /// @param may_search  false = only follow what is known: matching does not keep up
  void push(std::span<const float> samples, bool may_search, Findings& findings);

  /// The stream broke: works off what was heard of it. What is on air stays on air.
  void disconnect(Findings& findings);
  /// It is back, and its first sample is at this stream time (not before stream_s()).
  void reconnect(double at_s);
  /// Ends every play and segment at its last evidence. After disconnect().
  void end_all(Findings& findings);

  std::uint64_t expect(const OpenSpin& open) { return tracker_.expect(open); }

  double stream_s() const;                                   ///< end of what was pushed
  double final_s() const { return next_tick_s_ - kTick_s; }  ///< end of what was judged
  std::vector<Spin> on_air() const { return tracker_.on_air(); }
  std::string segment_kind() const { return segmenter_.open_kind(); }
  std::uint64_t searches() const { return tracker_.searches(); }
  std::uint64_t skipped_searches() const { return skipped_searches_; }

 private:
  static constexpr double kTick_s = 0.5;
  /// The newest peaks lie so far before the last sample: half a frame and what a maximum is told
  /// by.
  static constexpr double kPreview_s = 0.2;

  std::vector<fingerprint::Alignment> search(double start_s, double end_s,
                                             const std::vector<fingerprint::Hypothesis>& likely,
                                             bool any_speed) override;
  std::optional<fingerprint::Alignment> follow(double start_s, double end_s,
                                               const fingerprint::Alignment& known) override;
  std::vector<fingerprint::Evidence> trace(double start_s, double end_s,
                                           const fingerprint::Alignment& known) override;
  double duration_s(fingerprint::TrackId track_id) override;

  void gather();
  void append_new_peaks();
  void tick(bool may_search, Findings& findings);
  void label(double until_s, Findings& findings);
  void forget();

  ListenerParams params_;
  MatchService& matching_;
  CurrentIndex current_index_;
  fingerprint::PeakExtractor extractor_;
  SoundMeter meter_;
  Tracker tracker_;
  Segmenter segmenter_;
  std::vector<fingerprint::Peak> peaks_;  ///< on the stream's clock, the last memory_s
  fingerprint::LevelMap levels_;          ///< around them, of the last seconds
  std::size_t final_ = 0;                 ///< of peaks_; the others are a preview
  std::vector<fingerprint::Peak> new_peaks_;
  std::deque<SoundSecond> seconds_;  ///< not labelled yet, on the stream's clock
  std::vector<SoundSecond> new_seconds_;
  double base_s_ = 0;         ///< stream time of this connection's first sample
  std::int64_t samples_ = 0;  ///< of this connection
  double next_tick_s_ = kTick_s;
  std::uint64_t skipped_searches_ = 0;

  std::shared_ptr<const fingerprint::Index> index_;  ///< while tick() runs
};

}  // namespace spintag::daemon
