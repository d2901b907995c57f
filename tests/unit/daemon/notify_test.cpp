// tests/unit/daemon/notify_test.cpp - messages reach a real AF_UNIX datagram socket as systemd
// expects them.
#include "daemon/notify.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace spintag::daemon {
namespace {

/// What systemd does: a datagram socket, in the file system or abstract.
class Supervisor {
 public:
  explicit Supervisor(const std::string& name) : socket_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    bound_ = bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0;
  }
  ~Supervisor() { close(socket_); }
  bool bound() const { return bound_; }
  std::string receive() const {
    char text[1024];
    const ssize_t length = recv(socket_, text, sizeof text, MSG_DONTWAIT);
    return length < 0 ? "(nothing)" : std::string(text, static_cast<std::size_t>(length));
  }

 private:
  int socket_;
  bool bound_ = false;
};

class NotifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "spintag-notify-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(NotifyTest, EachMessageArrivesWhole) {
  const std::string path = folder_ / "notify";
  const Supervisor supervisor(path);
  ASSERT_TRUE(supervisor.bound());
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  const ServiceNotifier notifier;
  EXPECT_TRUE(notifier.enabled());
  notifier.ready();
  EXPECT_EQ(supervisor.receive(), "READY=1");
  notifier.watchdog();
  EXPECT_EQ(supervisor.receive(), "WATCHDOG=1");
  notifier.status("2 stations\nREADY=1");
  EXPECT_EQ(supervisor.receive(), "STATUS=2 stations READY=1")
      << "a line break would be another message";
  notifier.extend_timeout(std::chrono::seconds(3));
  EXPECT_EQ(supervisor.receive(), "EXTEND_TIMEOUT_USEC=3000000");
  notifier.stopping();
  EXPECT_EQ(supervisor.receive(), "STOPPING=1");
}

TEST_F(NotifyTest, AbstractSocketIsReached) {
  const std::string name = "@spintag-notify-test-" + std::to_string(getpid());
  const Supervisor supervisor(name);
  ASSERT_TRUE(supervisor.bound());
  setenv("NOTIFY_SOCKET", name.c_str(), 1);
  ServiceNotifier().ready();
  EXPECT_EQ(supervisor.receive(), "READY=1");
}

TEST_F(NotifyTest, WatchdogIntervalIsOursAlone) {
  setenv("NOTIFY_SOCKET", (folder_ / "notify").c_str(), 1);
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  EXPECT_EQ(ServiceNotifier().watchdog_interval(), std::chrono::seconds(30));
  setenv("NOTIFY_SOCKET", (folder_ / "notify").c_str(), 1);
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(ServiceNotifier().watchdog_interval()) << "meant for another process";
}

TEST_F(NotifyTest, ChildrenDoNotInheritTheSocket) {
  setenv("NOTIFY_SOCKET", (folder_ / "notify").c_str(), 1);
  const ServiceNotifier notifier;
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
}

TEST_F(NotifyTest, NobodyThereIsNoError) {
  const ServiceNotifier alone;
  EXPECT_FALSE(alone.enabled());
  alone.ready();
  setenv("NOTIFY_SOCKET", (folder_ / "gone").c_str(), 1);
  const ServiceNotifier unheard;
  unheard.ready();
  setenv("NOTIFY_SOCKET", std::string(200, '/').c_str(), 1);
  EXPECT_FALSE(ServiceNotifier().enabled()) << "longer than a socket's name may be";
}

}  // namespace
}  // namespace spintag::daemon
