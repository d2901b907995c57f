// daemon/tune_watch.h - when the unknown music of a station is worth a question about its melody.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace spintag::daemon {

struct TuneWatchParams {
  double unknown_s = 20;  ///< music that is unknown for longer is asked about ...
  double window_s = 24;   ///< ... by its newest seconds, at most so many; less hold too few notes,
                          ///< and of more a part is often played otherwise
  double every_s = 15;    ///< not more often
};

/// Keeps the newest samples of unknown music: at most window_s, 1 MiB. Pure logic, single-threaded.
class TuneWatch {
 public:
  explicit TuneWatch(const TuneWatchParams& params = {}) : params_(params) {}

  /// The next samples of the stream.
  /// @param samples  mono at 11,025 Hz
  /// @param known    a known track, silence or talk: what came before is forgotten
  void push(std::span<const float> samples, bool known);

  /// Whether to ask now. @param unknown_for_s  for how long the music has been unknown
  bool due(double unknown_for_s) const;

  /// What to ask about. The next question is due every_s later.
  std::vector<float> take();

  /// The question was not taken: ask again a second later.
  void put_off();

 private:
  TuneWatchParams params_;
  std::vector<float> samples_;
  double heard_s_ = 0;     ///< since the first sample
  double not_before_ = 0;  ///< heard_s_ from which the next question is due
};

}  // namespace spintag::daemon
