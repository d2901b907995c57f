// daemon/notify.h - tells systemd how the service is, over $NOTIFY_SOCKET (the sd_notify protocol,
// without libsystemd).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace spintag::daemon {

/// Outside systemd (no NOTIFY_SOCKET) every call does nothing. A message that cannot be sent is
/// lost, never an error: the service works the same without its supervisor. May be called from any
/// thread.
class ServiceNotifier {
 public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and takes them out of the environment, so
  /// that no child process speaks in our name. Make it before other threads start.
  ServiceNotifier();
  ~ServiceNotifier();
  ServiceNotifier(const ServiceNotifier&) = delete;
  ServiceNotifier& operator=(const ServiceNotifier&) = delete;

  bool enabled() const noexcept { return socket_ >= 0; }
  void ready() const noexcept;
  void stopping() const noexcept;
  void watchdog()
      const noexcept;  ///< "still alive": call it at half of watchdog_interval() or more often
  /// One line for `systemctl status`; line breaks become spaces.
  void status(std::string_view text) const noexcept;
  /// Asks for more time while starting or stopping.
  void extend_timeout(std::chrono::microseconds more) const noexcept;

  /// What WatchdogSec is, if systemd watches this process.
  std::optional<std::chrono::microseconds> watchdog_interval() const noexcept { return watchdog_; }

 private:
  void send(std::string_view message) const noexcept;

  int socket_ = -1;
  std::string address_;  ///< of the supervisor, as sun_path holds it
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace spintag::daemon
