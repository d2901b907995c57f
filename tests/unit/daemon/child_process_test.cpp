// tests/unit/daemon/child_process_test.cpp - tests daemon/demo/child_process.h.
#include "daemon/demo/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace spintag::daemon {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

ChildOptions shell(const std::string& script) {
  ChildOptions options;
  options.command = {"sh", "-c", script};
  return options;
}

TEST(ChildProcess, GivesTheExitStatus) {
  ChildProcess child(shell("exit 7"));
  EXPECT_EQ(child.wait(seconds(20)), 7);
  EXPECT_EQ(child.stop(), 7) << "stopping what has ended changes nothing";
}

TEST(ChildProcess, AProgramThatIsNotThereThrowsAndNamesIt) {
  ChildOptions options;
  options.command = {"spintag-no-such-program"};
  try {
    ChildProcess child(options);
    FAIL() << "it started";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("spintag-no-such-program"), std::string::npos);
  }
  ChildProcess after(shell("exit 0"));
  EXPECT_EQ(after.wait(seconds(20)), 0);
}

TEST(ChildProcess, OneThatIgnoresSigtermIsKilled) {
  ChildProcess child(shell("trap '' TERM; while :; do sleep 0.05; done"));
  EXPECT_FALSE(child.wait(std::chrono::milliseconds(300)));
  EXPECT_EQ(child.stop(std::chrono::milliseconds(300)), 128 + SIGKILL);
}

TEST(ChildProcess, EndsWithItsOwner) {
  pid_t pid = -1;
  {
    ChildProcess child(shell("exec sleep 600"));
    pid = child.pid();
    EXPECT_EQ(kill(pid, 0), 0);
    EXPECT_EQ(getpgid(pid), pid) << "a group of its own";
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(ChildProcess, ReadsWhatItIsFedAndLogsWhatItSays) {
  const auto log = std::filesystem::path(testing::TempDir()) /
                   ("child_process_test." + std::to_string(getpid()) + ".log");
  ChildOptions options = shell("read line; echo \"got $line\"; echo bad >&2; exit 3");
  options.log = log;
  options.feed = true;
  ChildProcess child(options);
  ASSERT_EQ(write(child.input(), "words\n", 6), 6);
  EXPECT_EQ(child.wait(seconds(20)), 3);
  EXPECT_EQ(end_of_log(log), "got words\nbad\n");
  std::filesystem::remove(log);
}

TEST(ChildProcess, ProgramsAreFoundOnPath) {
  EXPECT_TRUE(program_exists("sh"));
  EXPECT_FALSE(program_exists("spintag-no-such-program"));
}

}  // namespace
}  // namespace spintag::daemon
