// daemon/demo/child_process.cpp - a program that lives no longer than the object that started it.
#include "daemon/demo/child_process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace spintag::daemon {

namespace {

std::runtime_error failure(const std::string& what, int error) {
  return std::runtime_error(what + ": " + std::strerror(error));
}

struct Identity {
  uid_t user = 0;
  gid_t group = 0;
};

std::optional<Identity> find_identity(const std::string& user) {
  if (user.empty() || geteuid() != 0) return std::nullopt;
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr) throw std::runtime_error("there is no user " + user);
  return Identity{entry->pw_uid, entry->pw_gid};
}

/// What the child does between fork and exec: system calls only, since other threads may have held
/// any lock.
struct Launch {
  int input = -1;
  int output = -1;
  int report = -1;
  pid_t parent = -1;
  std::optional<Identity> identity;
  std::vector<char*> words;

  [[noreturn]] void run() const {
    if (setup()) execvp(words[0], words.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(report, &error, sizeof error);
    _exit(127);
  }

  bool setup() const {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    if (dup2(input, STDIN_FILENO) < 0) return false;
    if (output >= 0 && (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)) {
      return false;
    }
    if (identity && (setgroups(0, nullptr) != 0 || setgid(identity->group) != 0 ||
                     setuid(identity->user) != 0)) {
      return false;
    }
    // After setuid(), which would clear it; and the parent may be gone already.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
    if (getppid() != parent) _exit(127);
    return true;
  }
};

/// Closes what it holds.
struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset() {
    if (number >= 0) close(number);
    number = -1;
  }
  int release() {
    const int mine = number;
    number = -1;
    return mine;
  }
  int number;
};

}  // namespace

ChildProcess::ChildProcess(const ChildOptions& options) {
  const std::string& name = options.command.at(0);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) throw failure("pipe", errno);
  Descriptor report_read(report[0]);
  Descriptor report_write(report[1]);
  int feed[2] = {-1, -1};
  if (options.feed && pipe2(feed, O_CLOEXEC) != 0) throw failure("pipe", errno);
  Descriptor input(options.feed ? feed[0] : open("/dev/null", O_RDONLY | O_CLOEXEC));
  Descriptor feeder(feed[1]);
  Descriptor output(options.log.empty() ? -1
                                        : open(options.log.c_str(),
                                               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!options.log.empty() && output.number < 0) throw failure(options.log.string(), errno);

  Launch launch{
      input.number, output.number, report_write.number, getpid(), find_identity(options.user), {}};
  for (const std::string& word : options.command) {
    launch.words.push_back(const_cast<char*>(word.c_str()));
  }
  launch.words.push_back(nullptr);

  pid_ = fork();
  if (pid_ < 0) throw failure("fork", errno);
  if (pid_ == 0) launch.run();
  report_write.reset();
  int error = 0;
  if (read(report_read.number, &error, sizeof error) == sizeof error) {
    waitpid(pid_, nullptr, 0);
    throw failure("cannot start " + name, error);
  }
  input_ = feeder.release();
}

ChildProcess::~ChildProcess() {
  stop();
  if (input_ >= 0) close(input_);
}

std::optional<int> ChildProcess::exit_status() {
  if (status_) return status_;
  int raw = 0;
  if (waitpid(pid_, &raw, WNOHANG) != pid_) return std::nullopt;
  status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  return status_;
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!exit_status() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status_;
}

int ChildProcess::stop(std::chrono::milliseconds patience) {
  if (!exit_status()) {
    kill(pid_, SIGTERM);
    if (!wait(patience)) {
      kill(pid_, SIGKILL);
      while (!wait(std::chrono::seconds(1))) {
      }
    }
  }
  return *status_;
}

bool program_exists(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string end_of_log(const std::filesystem::path& log) {
  constexpr std::size_t kMost = 600;
  std::ifstream in(log);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (text.size() > kMost) text.erase(0, text.size() - kMost);
  return text.empty() ? "(it said nothing)" : text;
}

}  // namespace spintag::daemon
