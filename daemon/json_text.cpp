// daemon/json_text.cpp - numbers and lines as spintag's output writes them.
#include "daemon/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace spintag::daemon {

std::string json_text(const nlohmann::ordered_json& value) {
  constexpr int kOneLine = -1;
  constexpr bool kAsciiOnly = false;
  return value.dump(kOneLine, ' ', kAsciiOnly, nlohmann::ordered_json::error_handler_t::replace);
}

std::string duration_text(double seconds) {
  char text[48];
  const long long whole = std::llround(std::max(0.0, seconds));
  if (seconds < 59.95) {
    std::snprintf(text, sizeof text, "%.1f s", std::max(0.0, seconds));
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60,
                  whole % 60);
  }
  return text;
}

}  // namespace spintag::daemon
