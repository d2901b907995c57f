// tests/integration/test_radio.h - a real Icecast on loopback, and recordings sent to it in real
// time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "daemon/demo/child_process.h"
#include "daemon/rfc3339.h"
#include "tests/integration/spintag_process.h"

namespace spintag::test {

/// Icecast with an ephemeral port, as an unprivileged user when this is root.
class TestRadio {
 public:
  TestRadio();

  /// Encodes `wav` from `from_s` on to `mount` as MP3 at 128 kb/s. Off air when it is destroyed or
  /// the recording is over.
  class Source {
   public:
    Source(const TestRadio& radio, const std::string& mount, const std::filesystem::path& wav,
           double from_s);
    /// When the recording's first second (0, not from_s) would have been on air.
    db::TimePoint zero() const { return zero_; }

   private:
    db::TimePoint zero_;
    daemon::ChildProcess ffmpeg_;
  };

  std::unique_ptr<Source> play(const std::string& mount, const std::filesystem::path& wav,
                               double from_s = 0) const;
  std::string url(const std::string& mount) const;

 private:
  ScratchFolder folder_{"radio"};
  std::uint16_t port_;
  std::unique_ptr<daemon::ChildProcess> icecast_;
};

}  // namespace spintag::test
