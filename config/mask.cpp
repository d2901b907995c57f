// config/mask.cpp - URLs and connection strings without their secrets.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "config/settings.h"

namespace spintag::config {
namespace {

constexpr std::string_view kMask = "***";

bool is_secret_name(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 8> kParts = {"pass", "token", "secret", "key",
                                                      "auth", "sig",   "cred",   "pwd"};
  return std::ranges::any_of(
      kParts, [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

// "user:password@host" -> "user:***@host". A password may hold what an address must not, such as
// '/': the text before the last '@' counts as user and password unless what follows its first ':'
// is a port.
std::string mask_authority(std::string_view rest) {
  std::size_t end = std::min(rest.find_first_of("/"), rest.size());
  std::size_t at = rest.substr(0, end).rfind('@');
  if (at == std::string_view::npos) {
    const std::size_t colon = rest.substr(0, end).find(':');
    const bool port = colon == std::string_view::npos ||
                      std::ranges::all_of(rest.substr(colon + 1, end - colon - 1),
                                          [](unsigned char c) { return std::isdigit(c) != 0; }) ||
                      rest.starts_with('[');
    if (!port) at = rest.rfind('@');
  }
  if (at == std::string_view::npos) return std::string(rest);
  const std::size_t colon = rest.substr(0, at).find(':');
  if (colon == std::string_view::npos) return std::string(rest);
  return std::string(rest.substr(0, colon + 1)) + std::string(kMask) + std::string(rest.substr(at));
}

std::string mask_query(std::string_view query) {
  std::string shown;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && is_secret_name(pair.substr(0, equals))) {
      shown += pair.substr(0, equals + 1);
      shown += kMask;
    } else {
      shown += pair;
    }
    if (end < query.size()) shown += '&';
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return shown;
}

// The end of a libpq value: quoted with '' and \-escapes, or up to a blank.
std::size_t value_end(std::string_view text, std::size_t at) {
  const bool quoted = at < text.size() && text[at] == '\'';
  if (quoted) ++at;
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (quoted && text[at] == '\'') {
      return at + 1;
    } else if (!quoted && std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      return at;
    }
  }
  return text.size();
}

std::string mask_connection_string(std::string_view text) {
  std::string shown;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) break;
    std::size_t value = equals + 1;
    while (value < text.size() && text[value] == ' ') ++value;
    const std::size_t end = value_end(text, value);
    shown += text.substr(at, value - at);
    shown += is_secret_name(text.substr(at, equals - at)) ? kMask : text.substr(value, end - value);
    at = end;
  }
  shown += text.substr(at);
  return shown;
}

}  // namespace

std::string mask_url(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return mask_connection_string(url);
  const std::string_view all = url;
  const std::size_t query = std::min(all.find('?'), all.size());
  std::string shown(all.substr(0, scheme + 3));
  // A '?' inside a password: no '@' stands before it, one stands behind it.
  const std::string_view before = all.substr(scheme + 3, query - scheme - 3);
  const std::string_view after = all.substr(query);
  if (before.find('@') == std::string_view::npos && before.find(':') != std::string_view::npos &&
      after.find('@') != std::string_view::npos && before.find('/') == std::string_view::npos) {
    return shown + mask_authority(all.substr(scheme + 3));
  }
  shown += mask_authority(before);
  if (!after.empty()) shown += '?' + mask_query(after.substr(1));
  return shown;
}

}  // namespace spintag::config
