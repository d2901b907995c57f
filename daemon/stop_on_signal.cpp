// daemon/stop_on_signal.cpp - Ctrl-C and SIGTERM as a stop token, for commands that run a while.
#include "daemon/stop_on_signal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace spintag::daemon {

namespace {

std::atomic<int> signal_pipe{-1};  // written to by the handler, which may do little else

extern "C" void on_signal(int) {
  const int saved_errno = errno;
  const char byte = 's';
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe.load(), &byte, 1);
  errno = saved_errno;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  if (::pipe2(pipe_, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  signal_pipe = pipe_[1];
  watcher_ = std::jthread([this] {
    ::pthread_setname_np(::pthread_self(), "signals");
    char byte = 0;
    while (::read(pipe_[0], &byte, 1) < 0 && errno == EINTR) {
    }
    if (byte == 's') source_.request_stop();
  });
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

StopOnSignal::~StopOnSignal() {
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::close(pipe_[1]);  // the watcher reads the end of the pipe
  watcher_.join();
  ::close(pipe_[0]);
}

}  // namespace spintag::daemon
