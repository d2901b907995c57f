// fingerprint/audio/fd_input.h - a local file, named pipe or standard input as a libav byte source.
#pragma once

#include <cstdint>
#include <string>

#include "fingerprint/audio/interrupt.h"

struct AVIOContext;

namespace spintag::fingerprint {

/// Reads a file descriptor itself instead of through libav's `file` and `pipe` protocols: a pipe
/// that delivers nothing then obeys the deadline, a name with a colon is only a name, and no
/// protocol at all is needed for local input. (A regular file on a dead network mount blocks in the
/// kernel; no user program can end that wait.)
class FdInput {
 public:
  /// @param path  a file or named pipe; "-" is standard input, which is not closed in the end
  /// @throws AudioError in plain words when there is nothing to read
  FdInput(const std::string& path, Interrupt& interrupt);
  ~FdInput();
  FdInput(const FdInput&) = delete;
  FdInput& operator=(const FdInput&) = delete;

  AVIOContext* context() const { return context_; }

 private:
  void open(const std::string& path);
  int read_some(std::uint8_t* buffer, int size);
  bool wait_readable();
  std::int64_t seek(std::int64_t offset, int whence);
  static int on_read(void* self, std::uint8_t* buffer, int size);
  static std::int64_t on_seek(void* self, std::int64_t offset, int whence);

  Interrupt& interrupt_;
  AVIOContext* context_ = nullptr;
  int fd_ = -1;
  bool owned_ = false;
  bool regular_ = false;
  std::int64_t base_ = 0;  ///< where standard input stood when it was handed to us
  std::int64_t size_ = 0;  ///< bytes from base_; regular files only
};

}  // namespace spintag::fingerprint
