// daemon/notify.cpp - the sd_notify protocol: datagrams of KEY=value lines to an AF_UNIX socket.
#include "daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace spintag::daemon {
namespace {

std::string take_environment(const char* name) {
  const char* const value = std::getenv(name);
  std::string taken = value == nullptr ? std::string() : std::string(value);
  unsetenv(name);
  return taken;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

ServiceNotifier::ServiceNotifier() {
  std::string name = take_environment("NOTIFY_SOCKET");
  const auto period = whole_number(take_environment("WATCHDOG_USEC"));
  const std::string watched = take_environment("WATCHDOG_PID");
  const bool path = name.starts_with('/') || name.starts_with('@');
  if (!path || name.size() < 2 || name.size() >= sizeof(sockaddr_un::sun_path)) return;
  if (name.front() == '@') name.front() = '\0';  // the abstract namespace
  address_ = std::move(name);
  socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool ours = watched.empty() || whole_number(watched) == getpid();
  if (period && *period > 0 && ours) watchdog_ = std::chrono::microseconds(*period);
}

ServiceNotifier::~ServiceNotifier() {
  if (socket_ >= 0) close(socket_);
}

void ServiceNotifier::send(std::string_view message) const noexcept {
  if (socket_ < 0) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  // No NUL at the end of an abstract name: its length counts.
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  // MSG_DONTWAIT: a supervisor that does not read must not hold the service up.
  (void)sendto(socket_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&to), size);
}

void ServiceNotifier::ready() const noexcept { send("READY=1"); }

void ServiceNotifier::stopping() const noexcept { send("STOPPING=1"); }

void ServiceNotifier::watchdog() const noexcept { send("WATCHDOG=1"); }

void ServiceNotifier::status(std::string_view text) const noexcept {
  char message[512] = "STATUS=";
  const std::size_t prefix = std::strlen(message);
  const std::size_t length = std::min(text.size(), sizeof message - prefix);
  std::replace_copy(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length),
                    message + prefix, '\n', ' ');
  send({message, prefix + length});
}

void ServiceNotifier::extend_timeout(std::chrono::microseconds more) const noexcept {
  char message[64] = "EXTEND_TIMEOUT_USEC=";
  char* const at = message + std::strlen(message);
  const auto result = std::to_chars(at, message + sizeof message, more.count());
  send({message, static_cast<std::size_t>(result.ptr - message)});
}

}  // namespace spintag::daemon
