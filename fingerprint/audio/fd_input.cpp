// fingerprint/audio/fd_input.cpp - a local file, named pipe or standard input as a libav byte
// source.
#include "fingerprint/audio/fd_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fingerprint/audio/av_handles.h"
#include "fingerprint/audio/reader.h"
#include "fingerprint/audio/source.h"

namespace spintag::fingerprint {
namespace {

constexpr int kBufferBytes =
    64 * 1024;               // two seconds of MP3; fewer system calls than libav's 32 KiB
constexpr int kPollMs = 50;  // how soon a stop or a deadline is seen

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw AudioError(shown_source(path) + ": " + why);
}

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace

FdInput::FdInput(const std::string& path, Interrupt& interrupt) : interrupt_(interrupt) {
  open(path);
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer != nullptr) {
    context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, &FdInput::on_read, nullptr,
                                  regular_ ? &FdInput::on_seek : nullptr);
  }
  if (context_ == nullptr) {
    av_free(buffer);
    if (owned_) ::close(fd_);
    throw std::bad_alloc();
  }
}

FdInput::~FdInput() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
  if (owned_) ::close(fd_);
}

void FdInput::open(const std::string& path) {
  owned_ = path != "-";
  // Without O_NONBLOCK the opening of a named pipe waits for its writer, and nothing could end that
  // wait.
  fd_ = owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
  if (fd_ < 0) refuse(path, "cannot be opened: " + errno_text(errno));
  struct stat info = {};
  std::string why;
  if (::fstat(fd_, &info) != 0) {
    why = "cannot be read: " + errno_text(errno);
  } else if (S_ISDIR(info.st_mode)) {
    why = "is a directory, not an audio file";
  } else if (S_ISREG(info.st_mode)) {
    regular_ = true;
    base_ = owned_ ? 0 : ::lseek(fd_, 0, SEEK_CUR);
    size_ = info.st_size - base_;
    if (size_ <= 0) why = "is empty (0 bytes)";
  }
  if (why.empty()) return;
  if (owned_) ::close(fd_);
  refuse(path, why);
}

bool FdInput::wait_readable() {
  for (;;) {
    if (interrupt_.should_end()) return false;
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kPollMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // read() tells what is wrong
  }
}

int FdInput::read_some(std::uint8_t* buffer, int size) {
  for (;;) {
    if (!regular_ && !wait_readable()) return AVERROR_EXIT;
    const ssize_t got = ::read(fd_, buffer, static_cast<std::size_t>(size));
    if (got > 0) return static_cast<int>(got);
    if (got == 0) return AVERROR_EOF;
    if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
  }
}

std::int64_t FdInput::seek(std::int64_t offset, int whence) {
  if ((whence & AVSEEK_SIZE) != 0) return size_;
  const int origin = whence & ~AVSEEK_FORCE;
  const off_t place = origin == SEEK_SET ? base_ + offset : offset;
  const off_t now = ::lseek(fd_, place, origin);
  return now < 0 ? AVERROR(errno) : now - base_;
}

int FdInput::on_read(void* self, std::uint8_t* buffer, int size) {
  return static_cast<FdInput*>(self)->read_some(buffer, size);
}

std::int64_t FdInput::on_seek(void* self, std::int64_t offset, int whence) {
  return static_cast<FdInput*>(self)->seek(offset, whence);
}

}  // namespace spintag::fingerprint
