// config/value_checks.cpp - what single values of the settings must look like.
#include "config/value_checks.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "config/nearest.h"
#include "config/secret.h"
#include "config/settings.h"

namespace spintag::config {
namespace {

constexpr std::array<std::string_view, 5> kLogLevels = {"trace", "debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 1> kSinkTypes = {"webhook"};
constexpr std::array<std::string_view, 7> kEventTypes = {
    "track.started", "track.ended",      "track.corrected", "stream.silence",
    "stream.lost",   "stream.recovered", "segment.unknown"};

Fault one_of(std::string_view value, std::span<const std::string_view> known) {
  if (std::ranges::find(known, value) != known.end()) return std::nullopt;
  return "\"" + std::string(value) + "\" is not known (" + suggest(value, known) + ")";
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool has_blank_or_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == 0x7F; });
}

bool is_loopback(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool is_numeric_address(const std::string& host, int family) {
  in6_addr address{};
  return inet_pton(family, host.c_str(), &address) == 1;
}

}  // namespace

Fault check_database_url(std::string_view value) {
  const bool url = value.starts_with("postgresql://") || value.starts_with("postgres://");
  const bool pairs =
      value.find("://") == std::string_view::npos && value.find('=') != std::string_view::npos;
  if (value.empty() || url || pairs) return std::nullopt;
  return "not a PostgreSQL URL (write postgresql://user@host/database, or leave it out for the "
         "private cluster)";
}

Fault check_device(std::string_view value) {
  if (value == "auto" || value == "cpu") return std::nullopt;
  constexpr std::size_t kMostDigits = 4;
  const std::string_view number = value.substr(value.starts_with("cuda:") ? 5 : value.size());
  if (all_digits(number) && number.size() <= kMostDigits) return std::nullopt;
  constexpr std::array<std::string_view, 3> kDevices = {"auto", "cpu", "cuda:0"};
  return one_of(value, kDevices);
}

Fault check_log_level(std::string_view value) { return one_of(value, kLogLevels); }

Fault check_threshold(double value) {
  if (value > 0 && value < 1) return std::nullopt;
  return "must lie between 0 and 1 (0.999 lets one tag in a thousand be wrong)";
}

Fault check_melody_threshold(double value) {
  if (value > 0 && value < 1) return std::nullopt;
  return "must lie between 0 and 1 (0.9 lets one melody in ten be wrong)";
}

Fault check_listen(std::string_view value) {
  if (value.empty()) return std::nullopt;
  try {
    parse_listen(std::string(value));
    return std::nullopt;
  } catch (const ConfigError& error) {
    return error.what();
  }
}

Fault check_name(std::string_view value) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  if (value.empty()) return "is empty (give it a short name such as \"wjrh\")";
  if (value.size() > 64) return "is longer than 64 letters";
  if (value.find_first_not_of(kLetters) == std::string_view::npos) return std::nullopt;
  return "\"" + std::string(value) +
         "\" may hold a-z, 0-9, - and _ only (for people there is title)";
}

Fault check_http_url(std::string_view value) {
  const std::size_t scheme = value.find("://");
  const std::string_view name = value.substr(0, std::min(scheme, value.size()));
  if (scheme == std::string_view::npos || (name != "http" && name != "https")) {
    return "\"" + mask_url(std::string(value)) + "\" must begin with http:// or https://";
  }
  const std::string_view rest = value.substr(scheme + 3);
  if (rest.empty() || rest.front() == '/' || rest.front() == ':') return "names no host";
  if (has_blank_or_control(value)) return "holds a blank (write it as %20)";
  return std::nullopt;
}

Fault check_secret(std::string_view value) {
  if (decode_secret(value)) return std::nullopt;
  return "not a webhook secret: whsec_ and base64 of 24 to 64 bytes "
         "(make one: echo \"whsec_$(openssl rand -base64 32)\")";
}

Fault check_sink_type(std::string_view value) { return one_of(value, kSinkTypes); }

Fault check_event_type(std::string_view value) { return one_of(value, kEventTypes); }

Fault check_token(std::string_view value) {
  if (value.size() >= 16 && !has_blank_or_control(value)) return std::nullopt;
  return "a token has at least 16 letters and no blank (make one: openssl rand -hex 24)";
}

ListenAddress parse_listen(const std::string& text) {
  const auto fail = [&text]() {
    return ConfigError("\"" + text +
                       "\" is not an address and a port (such as 127.0.0.1:8750, [::1]:8750, or "
                       "0.0.0.0:8750 for every network)");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) throw fail();
  ListenAddress address;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc() || stop != end) throw fail();
  address.host = text.substr(0, colon);
  if (address.host == "localhost") address.host = "127.0.0.1";
  const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  if (!is_numeric_address(address.host, bracketed ? AF_INET6 : AF_INET)) throw fail();
  address.loopback = is_loopback(address.host);
  return address;
}

}  // namespace spintag::config
