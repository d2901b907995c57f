// tests/integration/spintag_process.cpp - the real program as a child process, on a scratch folder.
#include "tests/integration/spintag_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace spintag::test {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kLongestRun{120};
constexpr std::chrono::milliseconds kPoll{5};

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The environment of this process, without what would lead spintag to another store, and `more` on
// top.
std::vector<std::string> environment_of(const Environment& more) {
  Environment all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    all[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  for (const char* name : {"SPINTAG_DATABASE_URL", "SPINTAG_CONFIG", "STATE_DIRECTORY"})
    all.erase(name);
  for (const auto& [name, value] : more) all[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : all) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& name) {
  std::string path = (fs::temp_directory_path() / ("spintag-" + name + "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp " + path);
  path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<nlohmann::ordered_json> Finished::lines() const {
  std::vector<nlohmann::ordered_json> parsed;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);)
    parsed.push_back(nlohmann::ordered_json::parse(line));
  return parsed;
}

Child::Child(const std::vector<std::string>& command, const Environment& environment,
             const fs::path& input) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment_of(environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(variables);
  const int in = ::open(input.c_str(), O_RDONLY | O_CLOEXEC);
  const int out = ::open((folder_.path() / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int err = ::open((folder_.path() / "err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    ::execvpe(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  for (const int descriptor : {in, out, err}) ::close(descriptor);
  if (pid_ < 0) throw std::runtime_error("fork");
}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::send(int signal) const { ::kill(pid_, signal); }

std::size_t Child::wait_for_lines(std::size_t lines) {
  const auto give_up_at = std::chrono::steady_clock::now() + kLongestRun;
  while (true) {
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
    const std::string out = text_of(folder_.path() / "out");
    const auto seen = static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
    if (seen >= lines || ended.si_pid == pid_ || std::chrono::steady_clock::now() > give_up_at)
      return seen;
    std::this_thread::sleep_for(kPoll);
  }
}

Finished Child::finish() {
  const auto give_up_at = std::chrono::steady_clock::now() + kLongestRun;
  int wait_status = 0;
  struct rusage usage {};
  while (::wait4(pid_, &wait_status, WNOHANG, &usage) == 0) {
    if (std::chrono::steady_clock::now() > give_up_at) {
      ADD_FAILURE() << "the program did not end by itself";
      send(SIGKILL);
    }
    std::this_thread::sleep_for(kPoll);
  }
  pid_ = -1;
  Finished finished;
  finished.status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  finished.out = text_of(folder_.path() / "out");
  finished.err = text_of(folder_.path() / "err");
  finished.peak_kib = usage.ru_maxrss;
  return finished;
}

void shell(const std::string& command) {
  const Finished finished = Child({"bash", "-c", "set -e; " + command}, {}).finish();
  ASSERT_EQ(finished.status, 0) << command << "\n" << finished.err;
}

std::string in_quotes(const fs::path& path) { return "'" + path.string() + "'"; }

}  // namespace spintag::test
