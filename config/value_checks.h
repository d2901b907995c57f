// config/value_checks.h - what single values of the settings must look like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spintag::config {

/// Each says what is wrong and how to mend it; nothing means that the value is right.
using Fault = std::optional<std::string>;

Fault check_database_url(std::string_view value);
Fault check_device(std::string_view value);
Fault check_log_level(std::string_view value);
Fault check_threshold(double value);
Fault check_melody_threshold(double value);
Fault check_listen(std::string_view value);
Fault check_name(std::string_view value);
Fault check_http_url(std::string_view value);
Fault check_secret(std::string_view value);
Fault check_sink_type(std::string_view value);
Fault check_event_type(std::string_view value);
Fault check_token(std::string_view value);

}  // namespace spintag::config
