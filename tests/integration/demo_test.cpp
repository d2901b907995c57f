// tests/integration/demo_test.cpp - `spintag demo` and `spintag doctor` as a user runs them.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/demo/child_process.h"
#include "daemon/demo/loopback.h"
#include "tests/integration/made_music.h"

namespace spintag::daemon {
namespace {

using std::chrono::seconds;

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A folder for everything, a mark in the environment by which descendants are known however they
/// detach, and the program's own temporary files in a place that can be looked at.
class FirstRun : public testing::Test {
 protected:
  FirstRun() {
    std::string name = (std::filesystem::temp_directory_path() / "spintag-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    folder_ = name;
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    temporary_ = folder_ / "t";
    home_ = folder_ / "home";
    std::filesystem::create_directories(temporary_);
    setenv("HOME", home_.c_str(), 1);
    log_ = folder_ / "output";
    mark_ = "SPINTAG_TEST_MARK=" + name;
    putenv(mark_.data());
    setenv("TMPDIR", temporary_.c_str(), 1);
    setenv("STATE_DIRECTORY", (folder_ / "state").c_str(), 1);
    unsetenv("SPINTAG_CONFIG");
    unsetenv("SPINTAG_DATABASE_URL");
  }
  ~FirstRun() override {
    unsetenv("SPINTAG_TEST_MARK");
    unsetenv("TMPDIR");
    unsetenv("STATE_DIRECTORY");
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path two_tracks() const {
    const auto music = folder_ / "music";
    std::filesystem::create_directories(music);
    test::write_song(music / "Red.wav", 1, 50);
    test::write_song(music / "Blue.wav", 2, 50);
    return music;
  }

  ChildOptions spintag(std::vector<std::string> words) const {
    ChildOptions options;
    options.command = {SPINTAG_PROGRAM};
    options.command.insert(options.command.end(), words.begin(), words.end());
    options.log = log_;
    return options;
  }

  std::string output() const { return read_file(log_); }

  /// Command lines of living processes that carry the mark, this one aside.
  std::set<std::string> descendants() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      if (pid == std::to_string(getpid())) continue;
      // The environment of a process that has ended and waits to be reaped is empty.
      const std::string environment = '\0' + read_file(entry.path() / "environ");
      if (environment.find('\0' + mark_ + '\0') != std::string::npos) {
        found.insert(pid + " " + read_file(entry.path() / "cmdline"));
      }
    }
    return found;
  }

  std::filesystem::path folder_;
  std::filesystem::path temporary_;
  std::filesystem::path home_;  ///< is not there, and nobody makes it
  std::filesystem::path log_;
  std::string mark_;
};

TEST_F(FirstRun, DemoTagsItsSongsEndsByItselfAndLeavesNothing) {
  ChildProcess demo(spintag({"demo", "--seconds", "45", two_tracks()}));
  bool had_children = false;
  while (!demo.wait(seconds(1))) had_children = had_children || descendants().size() >= 4;
  EXPECT_EQ(demo.exit_status(), 0) << output();
  EXPECT_NE(output().find("on air: Blue"), std::string::npos) << output();
  EXPECT_NE(output().find("on air: Red"), std::string::npos) << output();
  EXPECT_NE(output().find("2 recognised, 0 wrong"), std::string::npos) << output();
  EXPECT_TRUE(had_children) << "the mark does not find what runs: the next line proves nothing";
  EXPECT_EQ(descendants(), std::set<std::string>{});
  EXPECT_TRUE(std::filesystem::is_empty(temporary_));
  EXPECT_FALSE(std::filesystem::exists(home_));
}

TEST_F(FirstRun, DemoStopsCleanlyAtCtrlC) {
  ChildProcess demo(spintag({"demo", two_tracks()}));
  while (!demo.exit_status() && output().find("the radio plays:") == std::string::npos) {
    demo.wait(std::chrono::milliseconds(100));
  }
  ASSERT_FALSE(demo.exit_status()) << output();
  ASSERT_EQ(kill(demo.pid(), SIGINT), 0);
  EXPECT_EQ(demo.wait(seconds(60)), 0) << output();
  EXPECT_EQ(descendants(), std::set<std::string>{});
  EXPECT_TRUE(std::filesystem::is_empty(temporary_));
  EXPECT_FALSE(std::filesystem::exists(home_));
}

TEST_F(FirstRun, DemoWithoutMusicSaysWhatToDo) {
  ChildProcess demo(spintag({"demo", "--seconds", "45", (folder_ / "nowhere").string()}));
  EXPECT_EQ(demo.wait(seconds(60)), 2);
  EXPECT_NE(output().find("is not a folder"), std::string::npos) << output();
}

TEST_F(FirstRun, DemoOfAFolderWithoutRecordingsFails) {
  std::filesystem::create_directories(folder_ / "music");
  std::ofstream(folder_ / "music" / "notes.txt") << "no music here\n";
  ChildProcess demo(spintag({"demo", "--seconds", "45", (folder_ / "music").string()}));
  ASSERT_TRUE(demo.wait(seconds(120)));
  EXPECT_EQ(demo.exit_status(), 1) << output();
  EXPECT_EQ(descendants(), std::set<std::string>{});
}

TEST_F(FirstRun, DoctorSaysEachFindingWithItsMend) {
  const auto config = folder_ / "spintag.toml";
  std::ofstream(config) << "[[station]]\nname = \"mute\"\nurl = \"http://127.0.0.1:" << free_port()
                        << "/none\"\n";
  ChildProcess doctor(spintag({"doctor", "--json", "--config", config}));
  ASSERT_TRUE(doctor.wait(seconds(60)));
  EXPECT_EQ(doctor.exit_status(), 1) << "a stream that does not open is a failure";
  std::istringstream lines(output());
  std::set<std::string> checks;
  for (std::string line; std::getline(lines, line);) {
    const auto finding = nlohmann::json::parse(line);
    const std::string health = finding.at("health");
    EXPECT_TRUE(health == "ok" || health == "warn" || health == "fail") << line;
    EXPECT_FALSE(finding.at("message").get<std::string>().empty()) << line;
    checks.insert(finding.at("check"));
    if (finding.at("check") == "stream mute") {
      EXPECT_EQ(health, "fail");
      EXPECT_FALSE(finding.at("mend").get<std::string>().empty());
    }
  }
  for (const char* check : {"spintag", "configuration", "processor", "audio", "clock", "gpu",
                            "device", "disk", "postgresql", "database", "stream mute"}) {
    EXPECT_TRUE(checks.contains(check)) << check;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state")) << "looking must not make a database";
}

TEST_F(FirstRun, DoctorNamesTheFaultInTheConfiguration) {
  const auto config = folder_ / "spintag.toml";
  std::ofstream(config) << "[web]\nlissten = \"127.0.0.1:8750\"\n";
  ChildProcess doctor(spintag({"doctor", "--config", config}));
  EXPECT_EQ(doctor.wait(seconds(60)), 1);
  EXPECT_NE(output().find("FAIL  configuration"), std::string::npos) << output();
  EXPECT_NE(output().find("lissten"), std::string::npos) << output();
}

}  // namespace
}  // namespace spintag::daemon
