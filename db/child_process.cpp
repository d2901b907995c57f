// db/child_process.cpp - starts a program with clean hands: no descriptors, signals, terminal or
// privileges of ours.
#include "db/child_process.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "db/store.h"

namespace spintag::db {

namespace {

/// What the child tells on a pipe that closes when it has become the program.
struct Report {
  pid_t pid = 0;
  int error = 0;
  const char* step = nullptr;  // a literal: the same address in parent and child
};

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw StoreError(StoreError::Kind::unreachable, std::string("pipe: ") + std::strerror(errno));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

/// Made before fork(): between fork() and exec() of a program with threads, memory must not be
/// allocated.
struct Prepared {
  explicit Prepared(const ChildCommand& from) : command(from) {
    for (const std::string& argument : from.arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
  }
  const ChildCommand& command;
  std::vector<char*> argv;
  // Not our environment: PGDATA, PGOPTIONS and the like would change what the server does.
  std::array<const char*, 4> environment{
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "TZ=UTC",
      nullptr};
};

void restore_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Descriptors 0 to 2 as told, kChildDirectory, and `report` at 4; nothing else. @return whether it
/// went well
bool arrange_descriptors(const ChildCommand& command, int report) {
  // Copies above anything used here first, so that no move overwrites a descriptor that is still
  // needed.
  const int high_report = ::fcntl(report, F_DUPFD_CLOEXEC, 100);
  const int high_output = ::fcntl(command.output, F_DUPFD_CLOEXEC, 100);
  const int high_directory =
      command.directory >= 0 ? ::fcntl(command.directory, F_DUPFD_CLOEXEC, 100) : -1;
  const int nothing = ::open("/dev/null", O_RDWR);
  bool good = high_report >= 0 && nothing >= 0;
  good = good && ::dup2(nothing, 0) == 0;
  good = good && ::dup2(high_output >= 0 ? high_output : 0, 1) == 1 && ::dup2(1, 2) == 2;
  good = good && ::dup3(high_report, kChildDirectory + 1, O_CLOEXEC) == kChildDirectory + 1;
  if (high_directory >= 0) {
    good = good && ::dup2(high_directory, kChildDirectory) == kChildDirectory;
  } else {
    ::close(kChildDirectory);
  }
  ::close_range(kChildDirectory + 2, ~0U, 0);
  return good;
}

const char* become(const ServerAccount& account) {
  if (::setgroups(account.groups.size(), account.groups.data()) != 0) return "setgroups";
  if (::setgid(account.gid) != 0) return "setgid";
  if (::setuid(account.uid) != 0) return "setuid";
  return nullptr;
}

[[noreturn]] void become_program(const Prepared& prepared, int report_to, bool dies_with_parent,
                                 pid_t parent) {
  restore_signals();
  Report report{::getpid(), 0, nullptr};
  int pipe = report_to;
  if (arrange_descriptors(prepared.command, report_to)) {
    pipe = kChildDirectory + 1;
  } else {
    report.step = "open";
  }
  ::umask(077);
  if (report.step == nullptr && ::chdir("/") != 0) report.step = "chdir";
  if (report.step == nullptr && prepared.command.account) {
    report.step = become(*prepared.command.account);
  }
  // After setuid(), which clears it. The parent may have gone before.
  if (dies_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (dies_with_parent && ::getppid() != parent) ::_exit(127);
  if (report.step == nullptr) {
    [[maybe_unused]] const auto told = ::write(pipe, &report, sizeof report);
    ::execve(prepared.argv[0], prepared.argv.data(),
             const_cast<char* const*>(prepared.environment.data()));
    report.step = "exec";
  }
  report.error = errno;
  [[maybe_unused]] const auto told = ::write(pipe, &report, sizeof report);
  ::_exit(127);
}

/// The last report before the pipe closed, which is when the program runs or the child is gone.
Report read_reports(int from) {
  Report last;
  for (;;) {
    Report report;
    const ssize_t bytes = ::read(from, &report, sizeof report);
    if (bytes == static_cast<ssize_t>(sizeof report)) {
      last = report;
    } else if (bytes >= 0 || errno != EINTR) {
      return last;
    }
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void check(const Report& report, const ChildCommand& command) {
  if (report.step == nullptr && report.pid != 0) return;
  throw StoreError(
      StoreError::Kind::unreachable,
      "cannot start " + command.arguments.front() + ": " +
          (report.step != nullptr ? std::string(report.step) + ": " + std::strerror(report.error)
                                  : "no process"));
}

pid_t fork_or_throw() {
  const pid_t child = ::fork();
  if (child < 0) {
    throw StoreError(StoreError::Kind::unreachable, std::string("fork: ") + std::strerror(errno));
  }
  return child;
}

}  // namespace

int run_child(const ChildCommand& command) {
  const Prepared prepared(command);
  Pipe pipe;
  const pid_t parent = ::getpid();
  const pid_t child = fork_or_throw();
  if (child == 0) become_program(prepared, pipe.ends[1], true, parent);
  pipe.close_end(1);
  const Report report = read_reports(pipe.ends[0]);
  const int status = wait_for(child);
  check(report, command);
  return status;
}

pid_t start_detached(const ChildCommand& command) {
  const Prepared prepared(command);
  Pipe pipe;
  const pid_t child = fork_or_throw();
  if (child == 0) {
    // A session of its own: no terminal, so no Ctrl-C; then a second fork, so that it is init's
    // child and never our zombie.
    ::setsid();
    const pid_t grandchild = ::fork();
    if (grandchild == 0) become_program(prepared, pipe.ends[1], false, 0);
    ::_exit(0);
  }
  pipe.close_end(1);
  const Report report = read_reports(pipe.ends[0]);
  wait_for(child);
  check(report, command);
  return report.pid;
}

}  // namespace spintag::db
