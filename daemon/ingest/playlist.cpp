// daemon/ingest/playlist.cpp - local playlists: M3U and PLS.
#include "daemon/ingest/playlist.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace spintag::daemon {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// RFC 3986, section 2.1: %41 is A. What is no such pair stays.
std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const int letter = std::tolower(static_cast<unsigned char>(c));
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string without_file_scheme(const std::string& entry) {
  constexpr std::string_view kScheme = "file://";
  if (!lower(entry.substr(0, kScheme.size())).starts_with(kScheme)) return entry;
  const std::size_t path = entry.find('/', kScheme.size());
  if (path == std::string::npos) return entry;
  const std::string host = lower(entry.substr(kScheme.size(), path - kScheme.size()));
  if (!host.empty() && host != "localhost") return entry;
  return percent_decoded(std::string_view(entry).substr(path));
}

// The value of "File12=..." ; empty if the line is another one.
std::string pls_entry(const std::string& line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos) return {};
  const std::string key = lower(line.substr(0, equals));
  const bool is_file = key.size() > 4 && key.starts_with("file") &&
                       key.find_first_not_of("0123456789", 4) == std::string::npos;
  return is_file ? line.substr(equals + 1) : std::string();
}

}  // namespace

bool is_playlist(const std::filesystem::path& file) {
  const std::string extension = lower(file.extension().string());
  return extension == ".m3u" || extension == ".m3u8" || extension == ".pls";
}

std::vector<std::string> parse_playlist(std::istream& in, bool is_pls) {
  std::vector<std::string> entries;
  std::string line;
  for (bool first = true; std::getline(in, line); first = false) {
    if (first && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    const std::string entry = is_pls ? pls_entry(line) : line;
    if (entry.empty() || (!is_pls && entry[0] == '#')) continue;
    entries.push_back(without_file_scheme(entry));
  }
  return entries;
}

}  // namespace spintag::daemon
