// daemon/json_text.h - numbers and lines as spintag's JSON output writes them.
#pragma once

#include <cmath>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace spintag::daemon {

/// One line without a line end. Text that is not UTF-8 gets replacement characters rather than an
/// error.
std::string json_text(const nlohmann::ordered_json& value);

/// Times in JSON are to the millisecond. Zero has no sign (-0.0 + 0.0 = 0.0).
inline double round_to_ms(double seconds) { return std::round(seconds * 1000.0) / 1000.0 + 0.0; }

/// For people: "12.3 s", "3:35", "2:03:04".
std::string duration_text(double seconds);

}  // namespace spintag::daemon
