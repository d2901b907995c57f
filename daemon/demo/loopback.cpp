// daemon/demo/loopback.cpp - ports of this machine's loopback address.
#include "daemon/demo/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace spintag::daemon {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

std::uint16_t free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  const bool found = descriptor >= 0 && bind(descriptor, plain, size) == 0 &&
                     getsockname(descriptor, plain, &size) == 0;
  if (descriptor >= 0) close(descriptor);
  if (!found) throw std::runtime_error("no free port on 127.0.0.1");
  return ntohs(address.sin_port);
}

bool wait_for_port(std::uint16_t port, const std::function<bool()>& give_up) {
  for (;;) {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    const bool listens =
        descriptor >= 0 &&
        connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (descriptor >= 0) close(descriptor);
    if (listens) return true;
    if (give_up()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace spintag::daemon
