// tests/unit/db/scratch_cluster.h - a private cluster in a temporary directory, one for each test
// program.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "db/private_cluster.h"

namespace spintag::db {

/// A directory that is removed with everything in it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "spintag-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Starts when it is made, stops and is removed when it goes. Child processes find the same
/// cluster, without any option, when STATE_DIRECTORY is state_directory().
class ScratchCluster {
 public:
  ScratchCluster() : cluster_(std::make_unique<PrivateCluster>(state_directory())) {
    // What a test writes need not survive a power cut, and a busy disk takes seconds to make it so.
    const std::filesystem::path data = state_directory() / "postgres/data";
    std::ofstream(data / "postgresql.conf", std::ios::app) << "fsync = off\n";
    pid_t server = 0;
    std::ifstream(data / "postmaster.pid") >> server;
    if (server > 1) ::kill(server, SIGHUP);
  }
  ~ScratchCluster() { cluster_.reset(); }  // before its directory
  ScratchCluster(const ScratchCluster&) = delete;
  ScratchCluster& operator=(const ScratchCluster&) = delete;

  std::filesystem::path state_directory() const { return directory_.path() / "state"; }
  std::string url() const { return cluster_->url(); }

 private:
  ScratchDirectory directory_;
  std::unique_ptr<PrivateCluster> cluster_;
};

}  // namespace spintag::db
