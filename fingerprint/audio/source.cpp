// fingerprint/audio/source.cpp - what a source string names, and how it is shown to people.
#include "fingerprint/audio/source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "fingerprint/audio/reader.h"

namespace spintag::fingerprint {
namespace {

// libav protocols that take their argument without "//". As a file name they would merely not
// exist; saying that they are refused is kinder.
constexpr std::array<std::string_view, 14> kBareProtocols = {
    "concat:", "concatf:", "subfile,", "crypto:", "cache:", "async:",  "pipe:",
    "file:",   "data:",    "md5:",     "fd:",     "tee:",   "bluray:", "unix:"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// "rtmp" of "rtmp://host/app"; empty when the text does not begin with a scheme.
std::string scheme_of(const std::string& source) {
  const auto colon = source.find("://");
  if (colon == std::string::npos || colon == 0) return {};
  const std::string_view scheme(source.data(), colon);
  const bool plausible = std::ranges::all_of(scheme, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.' || c == ',';
  });
  return plausible ? lower_case(scheme) : std::string();
}

bool exists(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at is reported by the opening
  return std::filesystem::exists(path, ignored);
}

}  // namespace

bool is_network_source(const std::string& source) {
  const std::string scheme = scheme_of(source);
  return scheme == "http" || scheme == "https";
}

SourceKind classify_source(const std::string& source) {
  if (source == "-") return SourceKind::kStandardInput;
  if (source.empty()) throw AudioError("the name of the audio source is empty");
  if (is_network_source(source)) return SourceKind::kNetwork;
  const std::string lower = lower_case(source);
  const bool foreign = !scheme_of(source).empty() ||
                       std::ranges::any_of(kBareProtocols, [&](std::string_view protocol) {
                         return lower.starts_with(protocol);
                       });
  if (foreign && !exists(source)) {
    throw AudioError(shown_source(source) +
                     ": this protocol is not allowed; a source is a file, \"-\" (standard input), "
                     "http:// or https://");
  }
  return SourceKind::kFile;
}

std::string shown_source(const std::string& source) {
  if (source == "-") return "standard input";
  if (scheme_of(source).empty()) return source;
  const auto host = source.find("://") + 3;
  const auto path = std::min(source.find_first_of("/?#", host), source.size());
  const auto query = std::min(source.find_first_of("?#", path), source.size());
  const auto at = source.substr(0, path).rfind('@');
  const auto shown_from = at != std::string::npos && at >= host ? at + 1 : host;
  return source.substr(0, host) + source.substr(shown_from, query - shown_from);
}

}  // namespace spintag::fingerprint
