// tests/unit/db/private_cluster_test.cpp - a private cluster among processes that start together,
// leave, and are killed.
#include "db/private_cluster.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "db/postgres_programs.h"
#include "db/store.h"
#include "tests/unit/db/scratch_cluster.h"

namespace spintag::db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <class Condition>
bool eventually(Condition&& holds) {
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       std::chrono::steady_clock::now() < until;) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

/// A running cluster_user.
class User {
 public:
  explicit User(const fs::path& state_directory, const std::string& title = "",
                std::optional<uid_t> uid = std::nullopt, fs::path program = SPINTAG_CLUSTER_USER) {
    std::array<int, 2> input{};
    std::array<int, 2> output{};
    if (::pipe2(input.data(), O_CLOEXEC) != 0 || ::pipe2(output.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("pipe2");
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(input[0], 0);
      ::dup2(output[1], 1);
      if (uid && ::setuid(*uid) != 0) ::_exit(126);
      ::execl(program.c_str(), program.c_str(), state_directory.c_str(),
              title.empty() ? nullptr : title.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(input[0]);
    ::close(output[1]);
    input_ = input[1];
    output_ = output[0];
  }
  ~User() {
    if (pid_ > 0) kill();
    ::close(output_);
  }
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  pid_t pid() const { return pid_; }

  /// "ready: N tracks", or "failed: ...", or "" if it was killed.
  std::string first_line() {
    std::string line;
    for (char c = 0; ::read(output_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  int leave() {
    ::close(std::exchange(input_, -1));
    return wait();
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    if (input_ >= 0) ::close(std::exchange(input_, -1));
    wait();
  }

 private:
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
};

/// The number in postmaster.pid; 0 = no such file, which a server that stops removes.
pid_t server_of(const fs::path& state) {
  std::ifstream file(state / "postgres/data/postmaster.pid");
  pid_t pid = 0;
  file >> pid;
  return pid;
}

void kill_and_wait(pid_t pid) {
  ASSERT_GT(pid, 1);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_TRUE(eventually([&] {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    return text.empty() || contains(text, ") Z ");
  }));
}

/// One cluster for the tests that do not need a fresh one.
class SharedPlace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { directory_ = new ScratchDirectory; }
  static void TearDownTestSuite() {
    delete directory_;
    directory_ = nullptr;
  }
  static fs::path state() { return directory_->path() / "state"; }

 private:
  static inline ScratchDirectory* directory_ = nullptr;
};

// The first of this suite: nothing is there yet.
TEST_F(SharedPlace, TwoProcessesAtOnceOnAFreshDirectoryShareOneServer) {
  User first(state(), "first");
  User second(state(), "second");
  EXPECT_TRUE(contains(first.first_line(), "ready"));
  EXPECT_TRUE(contains(second.first_line(), "ready"));
  const pid_t server = server_of(state());
  EXPECT_GT(server, 0);
  EXPECT_EQ(first.leave(), 0);
  EXPECT_EQ(server_of(state()), server) << "the other one still uses it";
  EXPECT_EQ(second.leave(), 0);
  EXPECT_EQ(server_of(state()), 0) << "the last one stops it";
}

TEST_F(SharedPlace, AKilledUserLeavesTheServerToTheNext) {
  User killed(state(), "kept");
  EXPECT_TRUE(contains(killed.first_line(), "ready"));
  const pid_t server = server_of(state());
  killed.kill();
  EXPECT_EQ(::kill(server, 0), 0);
  User next(state());
  EXPECT_TRUE(contains(next.first_line(), "ready"));
  EXPECT_EQ(server_of(state()), server);
  EXPECT_EQ(next.leave(), 0);
  EXPECT_EQ(server_of(state()), 0);
}

TEST_F(SharedPlace, AKilledServerIsStartedAgainWithWhatItHadCommitted) {
  PrivateCluster cluster(state());
  Store store(cluster.url());
  NewTrack track;
  track.content_hash = track.source = "committed";
  track.profile = "test";
  const auto id = store.put_track(track).track_id;
  const pid_t server = server_of(state());
  kill_and_wait(server);
  cluster.ensure_running();
  EXPECT_NE(server_of(state()), server);
  EXPECT_TRUE(store.find_track(id)) << "the same store, connected again";
  const pid_t second = server_of(state());
  cluster.ensure_running();
  EXPECT_EQ(server_of(state()), second) << "nothing to do";
}

TEST_F(SharedPlace, AServerKilledWithItsUsersIsRecoveredByTheNext) {
  User user(state(), "before the kill");
  EXPECT_TRUE(contains(user.first_line(), "ready"));
  const pid_t server = server_of(state());
  kill_and_wait(server);
  user.kill();
  User next(state());
  EXPECT_TRUE(contains(next.first_line(), "ready"));
  EXPECT_NE(server_of(state()), server);
  EXPECT_EQ(next.leave(), 0);
}

TEST_F(SharedPlace, AStaleProcessIdThatNowIsAnotherProgramHoldsNobodyUp) {
  User{state()}.first_line();  // the cluster exists, whatever ran before; its destructor kills
  User clean(state());
  clean.first_line();
  clean.leave();
  const fs::path pid_file = state() / "postgres/data/postmaster.pid";
  std::ofstream(pid_file) << ::getpid() << "\n/somewhere\n1700000000\n5432\n/run\n\n  0 0\nready\n";
  User user(state());
  EXPECT_TRUE(contains(user.first_line(), "ready"));
  EXPECT_NE(server_of(state()), ::getpid());
  EXPECT_EQ(user.leave(), 0);
}

TEST_F(SharedPlace, TheServerHasNothingOfItsStarter) {
  const fs::path inherited = state().parent_path() / "inherited";
  const int fd = ::open(inherited.c_str(), O_CREAT | O_RDWR, 0600);  // not close-on-exec
  User user(state());
  EXPECT_TRUE(contains(user.first_line(), "ready"));
  const pid_t server = server_of(state());
  EXPECT_NE(::getsid(server), ::getsid(user.pid())) << "Ctrl-C would reach it";
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(server) + "/fd")) {
    std::error_code gone;
    EXPECT_NE(fs::read_symlink(entry.path(), gone), inherited);
  }
  ::close(fd);
  EXPECT_EQ(user.leave(), 0);
}

TEST_F(SharedPlace, NobodyElseCanReachTheSocket) {
  const PrivateCluster cluster(state());
  for (const char* name : {"postgres", "postgres/run", "postgres/data", "postgres/log"}) {
    struct stat status {};
    ASSERT_EQ(::stat((state() / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 0777, 0700U) << name;
    EXPECT_NE(status.st_uid, 0U) << "PostgreSQL does not run as root";
  }
  std::ifstream options(state() / "postgres/data/postmaster.opts");
  std::string line;
  std::getline(options, line);
  EXPECT_TRUE(contains(line, "\"listen_addresses=\"")) << line;
}

TEST(PrivateCluster, AnInitdbThatWasKilledIsMadeAnew) {
  const ScratchDirectory directory;
  const fs::path state = directory.path() / "state";
  const auto half = [&] {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(state / "postgres", none)) {
      if (entry.path().filename().string().starts_with("data.new.")) return entry.path();
    }
    return fs::path();
  };
  {
    User killed(state);
    ASSERT_TRUE(eventually([&] { return !half().empty() && !fs::is_empty(half()); }));
    killed.kill();
  }
  const fs::path left = half();
  ASSERT_FALSE(left.empty());
  User next(state);
  EXPECT_TRUE(contains(next.first_line(), "ready"));
  EXPECT_EQ(next.leave(), 0);
  const PrivateCluster later(
      state);  // a program that initdb had started may have written on for a moment
  EXPECT_FALSE(fs::exists(left));
}

TEST(PrivateCluster, ADirectoryTooDeepForASocketWorks) {
  const ScratchDirectory directory;
  const fs::path state = directory.path() / std::string(60, 'a') / std::string(60, 'b');
  fs::path socket_directory;
  {
    const PrivateCluster cluster(state);
    EXPECT_EQ(Store(cluster.url()).sizes().tracks, 0);
    std::ifstream(state / "postgres/socket_directory") >> socket_directory;
    struct stat status {};
    ASSERT_EQ(::stat(socket_directory.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    const PrivateCluster second(state);
    EXPECT_EQ(second.url(), cluster.url());
  }
  EXPECT_FALSE(fs::exists(socket_directory));
}

TEST(PrivateCluster, RootAndTheOwnerOfTheDirectoryShareOneServer) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const passwd* nobody = ::getpwnam("nobody");
  ASSERT_NE(nobody, nullptr);
  const uid_t uid = nobody->pw_uid;
  const ScratchDirectory directory;
  const fs::path program =
      directory.path() / "cluster_user";  // the build tree may be closed to others
  fs::copy_file(SPINTAG_CLUSTER_USER, program);
  fs::permissions(directory.path(), fs::perms(0755));
  fs::permissions(program, fs::perms(0755));
  const fs::path state = directory.path() / "state";
  fs::create_directory(state);
  ASSERT_EQ(::chown(state.c_str(), uid, nobody->pw_gid), 0);

  User owner(state, "of the owner", uid, program);
  EXPECT_TRUE(contains(owner.first_line(), "ready: 1 tracks"));
  const pid_t server = server_of(state);
  struct stat status {};
  ASSERT_EQ(::stat(("/proc/" + std::to_string(server)).c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, uid);
  {
    User root(state, "of root");
    EXPECT_TRUE(contains(root.first_line(), "ready: 2 tracks"));
    EXPECT_EQ(owner.leave(), 0);
    EXPECT_EQ(server_of(state), server);
    EXPECT_EQ(root.leave(), 0);
  }
  EXPECT_EQ(server_of(state), 0);
  {
    User root(state);  // root starts it this time, and the owner joins
    EXPECT_TRUE(contains(root.first_line(), "ready: 2 tracks"));
    User again(state, "", uid, program);
    EXPECT_TRUE(contains(again.first_line(), "ready: 2 tracks"));
    EXPECT_EQ(root.leave(), 0);
    EXPECT_EQ(again.leave(), 0);
  }
  EXPECT_EQ(server_of(state), 0);
}

TEST(PrivateCluster, ADirectoryOfSomebodyElseIsRefusedWithTheMend) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const ScratchDirectory directory;
  const fs::path program = directory.path() / "cluster_user";
  fs::copy_file(SPINTAG_CLUSTER_USER, program);
  fs::permissions(directory.path(), fs::perms(0755));
  fs::permissions(program, fs::perms(0755));
  User nobody(directory.path() / "state", "", ::getpwnam("nobody")->pw_uid, program);
  const std::string line = nobody.first_line();
  EXPECT_TRUE(contains(line, "cannot make")) << line;
  EXPECT_TRUE(contains(line, "STATE_DIRECTORY")) << line;
  EXPECT_EQ(nobody.leave(), 3);
}

TEST(PostgresPrograms, AMissingVersionNamesItsPackage) {
  EXPECT_TRUE(fs::exists(find_postgres(std::nullopt).initdb));
  try {
    find_postgres(8);
    ADD_FAILURE();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::unreachable);
    EXPECT_TRUE(contains(error.what(), "postgresql-8")) << error.what();
  }
}

TEST(DefaultStateDirectory, FollowsTheEnvironment) {
  const auto with = [](const char* state, const char* xdg, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
    };
    set("STATE_DIRECTORY", state);
    set("XDG_STATE_HOME", xdg);
    set("HOME", home);
    return default_state_directory();
  };
  const char* home = std::getenv("HOME");
  const std::string kept = home != nullptr ? home : "/";
  EXPECT_EQ(with("/var/lib/a:/var/lib/b", "/x", "/home/u"), "/var/lib/a");
  EXPECT_EQ(with(nullptr, "/x", "/home/u"), "/x/spintag");
  EXPECT_EQ(with("", "relative", "/home/u"),
            ::geteuid() == 0 ? "/var/lib/spintag" : "/home/u/.local/state/spintag");
  with(nullptr, nullptr, kept.c_str());
}

}  // namespace
}  // namespace spintag::db
