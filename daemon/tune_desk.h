// daemon/tune_desk.h - whom stations ask which melody unknown music plays; answers in the
// background.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/open_store.h"
#include "daemon/tune_book.h"

namespace spintag::daemon {

/// A track whose melody unknown music most likely plays.
struct TuneGuess {
  std::int64_t track_id = 0;
  std::string track_json;    ///< the track as events have it
  double confidence = 0;     ///< of the melody alone
  double track_start_s = 0;  ///< where in the track the music that was asked about begins
  double speed = 1;          ///< tempo of what is heard over the track's
  double pitch = 1;          ///< pitch ratio, octaves apart

  friend bool operator==(const TuneGuess&, const TuneGuess&) = default;
};

/// One thread ("melody"), of a low priority, which may block on the database. It takes up one
/// question at a time, of any station; while it works no other is taken. The melodies are read
/// when the first question comes.
class TuneDesk {
 public:
  using Answer = std::future<std::optional<TuneGuess>>;

  /// @param site  outlives this
  explicit TuneDesk(const StoreSite& site);
  ~TuneDesk();  ///< gives up what it works on, and joins
  TuneDesk(const TuneDesk&) = delete;
  TuneDesk& operator=(const TuneDesk&) = delete;

  /// Any thread; never waits.
  /// @param samples  mono at PredominantPitch::kRateHz
  /// @return nothing while another question waits or is worked on, or once there were more melodies
  /// than a TuneBook takes, and `samples` are untouched; the answer has no guess if the music is
  /// like no melody, the database is away or the desk closes
  std::optional<Answer> ask(std::vector<float>&& samples);

 private:
  void work(const std::stop_token& stop);
  std::optional<TuneGuess> answer(const std::vector<float>& samples, const std::stop_token& stop);

  const StoreSite& site_;
  std::optional<db::Store> store_;  ///< of the thread, as all of these
  TuneBook book_;
  std::string problem_;  ///< as last logged

  std::mutex mutex_;  ///< guards question_, promise_, busy_, given_up_
  std::condition_variable_any asked_;
  std::vector<float> question_;
  std::promise<std::optional<TuneGuess>> promise_;
  bool busy_ = false;
  bool given_up_ = false;

  std::jthread thread_;
};

}  // namespace spintag::daemon
