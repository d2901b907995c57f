// daemon/demo/loopback.h - ports of this machine's loopback address.
#pragma once

#include <cstdint>
#include <functional>

namespace spintag::daemon {

/// A TCP port of 127.0.0.1 that is free right now.
std::uint16_t free_port();

/// Waits until somebody listens on a port of 127.0.0.1. @return false if `give_up` says so first
bool wait_for_port(std::uint16_t port, const std::function<bool()>& give_up);

}  // namespace spintag::daemon
