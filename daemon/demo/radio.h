// daemon/demo/radio.h - a radio station on this box: an Icecast of its own, fed with a programme.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "daemon/demo/programme.h"
#include "db/store.h"

namespace spintag::daemon {

/// A song as it went on air.
struct Airing {
  std::size_t song = 0;      ///< index into Programme::songs()
  db::TimePoint began_at{};  ///< wall clock when its first sample was sent
  double heard_s = 0;
};

/// Icecast on a free port of 127.0.0.1, started as an unprivileged user when this is root; ffmpeg
/// encodes the programme to MP3 (128 kb/s, mono) and feeds it in real time. The stream carries no
/// titles.
class Radio {
 public:
  /// Starts everything but the programme; returns once Icecast accepts connections.
  /// @param programme  must outlive this, and nobody else uses it meanwhile
  /// @param directory  for its configuration and logs; exists, and every user may enter it
  /// @throws std::runtime_error that names the program, with the end of its log
  Radio(Programme& programme, const std::filesystem::path& directory);
  /// Goes on air: "radio", a thread of its own, blocks on the clock and on the pipe to ffmpeg.
  void start();
  ~Radio();  ///< off air; every program that it started is gone
  Radio(const Radio&) = delete;
  Radio& operator=(const Radio&) = delete;

  const std::string& url() const;

  /// What went on air so far, oldest first. Any thread.
  std::vector<Airing> aired() const;

  /// @throws std::runtime_error if Icecast or ffmpeg has ended or the programme failed
  void check();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spintag::daemon
