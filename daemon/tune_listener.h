// daemon/tune_listener.h - a station's unknown music, asked about and remembered until it is over.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "daemon/tune_desk.h"
#include "daemon/tune_watch.h"

namespace spintag::daemon {

/// What the station knows at this moment.
struct UnknownMusic {
  bool known = false;                            ///< a known track is heard, or there is no music
  std::optional<double> since_s = std::nullopt;  ///< since when there is a segment of unknown music
  double now_s = 0;                              ///< the stream's clock
};

struct TuneListenerParams {
  double min_confidence = 0.9;  ///< of what is told
  /// Answers about one segment that must agree. With one, 2 of 56 recordings of other music were
  /// told, by a phrase of a few notes that goes round and round.
  std::size_t agreeing = 2;
  double same_place_s = 3;  ///< two answers that are so near on the track's clock agree
  TuneWatchParams watch;
};

/// Two answers about one segment that name one track, and go on in it as time does, are surer than
/// each: the chance that both are wrong is the product. Single-threaded.
class TuneListener {
 public:
  using Ask = std::function<std::optional<TuneDesk::Answer>(std::vector<float>&&)>;

  /// @param ask  as TuneDesk::ask(); empty = never
  explicit TuneListener(Ask ask, const TuneListenerParams& params = {})
      : ask_(std::move(ask)), params_(params), watch_(params.watch) {}

  /// The next samples of the stream. Never waits.
  /// @return a track that is to be told: surer than the threshold, and not told of this segment yet
  std::optional<TuneGuess> push(std::span<const float> samples, const UnknownMusic& state);

  std::uint64_t asked() const { return asked_; }  ///< questions since the start

 private:
  struct Question {
    TuneDesk::Answer answer;
    double segment_s = 0;  ///< where the segment began that it is about
    double from_s = 0;     ///< where the music begins that was asked about
  };

  void ask(const UnknownMusic& state);
  std::optional<TuneGuess> take(const TuneGuess& guess, double from_s);

  Ask ask_;
  TuneListenerParams params_;
  TuneWatch watch_;
  std::optional<Question> question_;
  std::optional<double> segment_s_;                    ///< of what is below
  std::vector<std::pair<TuneGuess, double>> guesses_;  ///< and from when, the newest ones
  std::vector<std::int64_t> told_;
  std::uint64_t asked_ = 0;
};

}  // namespace spintag::daemon
