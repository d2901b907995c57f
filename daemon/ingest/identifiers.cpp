// daemon/ingest/identifiers.cpp - ISRC and MusicBrainz identifiers in the one form that is stored.
#include "daemon/ingest/identifiers.h"

#include <algorithm>

namespace spintag::daemon {

namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::optional<std::string> normal_isrc(std::string_view text) {
  text = trimmed(text);
  std::string isrc;
  for (const char c : text) {
    if (c != '-') isrc += upper(c);
  }
  if (isrc.starts_with("ISRC")) isrc.erase(0, 4);
  if (isrc.size() != 12) return std::nullopt;
  const auto begin = isrc.begin();
  const bool country = std::all_of(begin, begin + 2, is_upper);
  const bool registrant =
      std::all_of(begin + 2, begin + 5, [](char c) { return is_upper(c) || is_digit(c); });
  const bool number = std::all_of(begin + 5, isrc.end(), is_digit);
  if (!country || !registrant || !number) return std::nullopt;
  return isrc;
}

std::optional<std::vector<std::string>> normal_isrcs(std::string_view list) {
  constexpr std::string_view kSeparators = " ,;/\t";
  std::vector<std::string> isrcs;
  for (std::size_t at = list.find_first_not_of(kSeparators); at != std::string_view::npos;) {
    const std::size_t end = std::min(list.find_first_of(kSeparators, at), list.size());
    auto isrc = normal_isrc(list.substr(at, end - at));
    if (!isrc) return std::nullopt;
    if (std::find(isrcs.begin(), isrcs.end(), *isrc) == isrcs.end()) isrcs.push_back(*isrc);
    at = list.find_first_not_of(kSeparators, end);
  }
  return isrcs;
}

std::optional<std::string> normal_mbid(std::string_view text) {
  text = trimmed(text);
  if (text.size() != 36) return std::nullopt;
  std::string mbid;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = lower(text[i]);
    const bool hyphen_place = i == 8 || i == 13 || i == 18 || i == 23;
    const bool fits = hyphen_place ? c == '-' : is_digit(c) || (c >= 'a' && c <= 'f');
    if (!fits) return std::nullopt;
    mbid += c;
  }
  return mbid;
}

}  // namespace spintag::daemon
