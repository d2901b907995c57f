// daemon/demo/child_process.h - a program that lives no longer than the object that started it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spintag::daemon {

struct ChildOptions {
  std::vector<std::string> command;  ///< the first word is looked up on PATH
  std::filesystem::path log;         ///< takes standard output and error; empty = inherited
  bool feed = false;                 ///< standard input is a pipe, see input(); else /dev/null
  std::string user;                  ///< becomes this user first (for root only); empty = stays
};

/// Runs in a process group of its own, so that a Ctrl-C reaches it through its owner alone. The
/// kernel ends it when the thread that started it dies, so start it from one that lives as long.
/// Single-threaded, except that input() may be written by another thread.
class ChildProcess {
 public:
  /// @throws std::runtime_error when the program cannot be started
  explicit ChildProcess(const ChildOptions& options);
  ~ChildProcess();  ///< stop()
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Its exit status (128 + signal when one ended it), or nothing while it runs.
  std::optional<int> exit_status();
  /// Waits for its end for so long at most.
  std::optional<int> wait(std::chrono::milliseconds patience);
  /// SIGTERM, and SIGKILL if it does not end within `patience`. @return exit status
  int stop(std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// File descriptor of the pipe to its standard input, -1 without one.
  int input() const { return input_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::optional<int> status_;
};

/// True if PATH has the program.
bool program_exists(const std::string& name);

/// The last lines of a program's log, for an error message.
std::string end_of_log(const std::filesystem::path& log);

}  // namespace spintag::daemon
