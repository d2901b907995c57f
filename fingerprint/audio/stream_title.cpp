// fingerprint/audio/stream_title.cpp - what an encoder says is on air.
#include "fingerprint/audio/stream_title.h"

#include <cstddef>

namespace spintag::fingerprint {
namespace {

/// Bytes of the UTF-8 character at the front of `text`; 0 when it is none (RFC 3629: no overlong
/// forms, no surrogates).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool no_character = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  return overlong || no_character ? 0 : length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string from_latin1(std::string_view text) {
  std::string utf8;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xC0U | (byte >> 6U));
      utf8 += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return utf8;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean = is_utf8(text) ? std::string(text) : from_latin1(text);
  std::erase_if(clean, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  const auto first = clean.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return clean.substr(first, clean.find_last_not_of(' ') - first + 1);
}

std::string parse_icy_title(std::string_view packet) {
  constexpr std::string_view kKey = "StreamTitle='";
  const auto key = packet.find(kKey);
  if (key == std::string_view::npos) return {};
  const std::string_view rest = packet.substr(key + kKey.size());
  auto end = rest.find("';StreamUrl=");  // what follows has apostrophes of its own
  if (end == std::string_view::npos) end = rest.rfind("';");
  return clean_text(rest.substr(0, end));
}

std::string join_title(std::string_view artist, std::string_view title) {
  const std::string clean_artist = clean_text(artist);
  const std::string clean_title = clean_text(title);
  if (clean_artist.empty() || clean_title.empty()) return clean_artist + clean_title;
  return clean_artist + " - " + clean_title;
}

}  // namespace spintag::fingerprint
