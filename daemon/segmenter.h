// daemon/segmenter.h - names the time in which no known track is on air: silence, speech, music.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/sound_meter.h"

namespace spintag::daemon {

struct SegmenterParams {
  double silence_s = 4;  ///< dead air is told after so much of it
  /// Other unmatched time is named after so much of it: longer than recognising a song takes, so
  /// that a song's first seconds are not called unknown.
  double unmatched_s = 15;
  double change_s = 8;  ///< speech becomes music, or back, when it has been so for so long
};

/// A stretch of the stream's clock that begins or ends.
struct SegmentEdge {
  enum class What { begun, ended };
  What what = What::begun;
  std::string kind;  ///< silence, speech, music
  double start_s = 0;
  double end_s = 0;  ///< when ended
};

/// Pure logic, single-threaded. At most one segment is open at a time.
class Segmenter {
 public:
  explicit Segmenter(const SegmenterParams& params = {}) : params_(params) {}

  /// @param second     the next second of the stream
  /// @param matched    a known track is on air in it, as far as is known
  /// @param play_start when matched: where the newest play began
  void second(const SoundSecond& second, bool matched, double play_start,
              std::vector<SegmentEdge>& edges);

  /// Ends the open segment, as when the stream is lost.
  void close(double at_s, std::vector<SegmentEdge>& edges);

  /// Kind of the open segment, empty when there is none.
  std::string open_kind() const { return open_ ? open_->kind : std::string(); }

 private:
  void begin(std::string kind, double start_s, std::vector<SegmentEdge>& edges);

  SegmenterParams params_;
  std::optional<SegmentEdge> open_;
  std::optional<double> silent_since_;
  std::optional<double> unmatched_since_;
  std::optional<double> other_kind_since_;  ///< since when the sound differs from the open segment
};

}  // namespace spintag::daemon
