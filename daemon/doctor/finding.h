// daemon/doctor/finding.h - one thing that was looked at, how it is, and what to do about it.
#pragma once

#include <functional>
#include <string>

namespace spintag::daemon {

struct Finding {
  enum class Health { ok, warn, fail };
  Health health = Health::ok;
  std::string check;    ///< one word or two: "clock", "stream wjrh"
  std::string message;  ///< what was found
  std::string mend;     ///< what to do; empty when there is nothing to do
};

/// Takes findings as they come, so that a slow check does not hide the quick ones before it.
using Report = std::function<void(const Finding&)>;

/// "ok", "warn" or "FAIL".
inline const char* to_string(Finding::Health health) {
  switch (health) {
    case Finding::Health::ok:
      return "ok";
    case Finding::Health::warn:
      return "warn";
    case Finding::Health::fail:
      break;
  }
  return "FAIL";
}

/// "12.3 MiB".
std::string human_bytes(double bytes);

}  // namespace spintag::daemon
