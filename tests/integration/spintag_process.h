// tests/integration/spintag_process.h - the real program as a child process, on a scratch folder.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace spintag::test {

/// A folder that is gone with the object.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Finished {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out;
  std::string err;
  long peak_kib = 0;  ///< most resident memory

  std::vector<nlohmann::ordered_json> lines() const;  ///< of `out`, one JSON object each
};

using Environment = std::map<std::string, std::string>;

/// One run of a program. Standard input is `input` (a file), standard output and error are kept in
/// files.
class Child {
 public:
  Child(const std::vector<std::string>& command, const Environment& environment,
        const std::filesystem::path& input = "/dev/null");
  ~Child();  ///< kills what still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  /// Waits until standard output has so many lines, or the program has ended. @return number of
  /// lines
  std::size_t wait_for_lines(std::size_t lines);
  Finished finish();

 private:
  ScratchFolder folder_{"child"};
  pid_t pid_ = -1;
};

/// Runs a shell command and fails the test if it fails.
void shell(const std::string& command);

/// Quoted for the shell.
std::string in_quotes(const std::filesystem::path& path);

}  // namespace spintag::test
