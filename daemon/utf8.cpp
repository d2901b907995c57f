// daemon/utf8.cpp - names and tags are bytes; databases and JSON want UTF-8.
#include "daemon/utf8.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace spintag::daemon {

namespace {

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Length of the well-formed sequence that begins at `at`; 0 if there is none. Unicode 15, table
// 3-7: no overlong form, no surrogate, nothing past U+10FFFF.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !continues(text, at + 1)) return 0;
  if (first < 0xE0) return 2;
  const unsigned second = byte(at + 1);
  if (!continues(text, at + 2)) return 0;
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (!continues(text, at + 3)) return 0;
  const bool overlong = first == 0xF0 && second < 0x90;
  const bool too_large = first == 0xF4 && second > 0x8F;
  return overlong || too_large ? 0 : 4;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length > 0) {
      out.append(text.substr(at, length));
      at += length;
      continue;
    }
    std::array<char, 8> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\x%02X",
                  static_cast<unsigned>(static_cast<unsigned char>(text[at])));
    out += escaped.data();
    ++at;
  }
  return out;
}

std::string tidy(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (code == 0) continue;
    out += code < 0x20 || code == 0x7F ? ' ' : byte;
  }
  const std::size_t first = out.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return to_utf8(std::string_view(out).substr(first, out.find_last_not_of(' ') - first + 1));
}

std::string fit(std::string_view text, std::size_t columns) {
  std::size_t cut = 0;  // where the text would end to leave one column for the dots
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (continues(text, at)) continue;
    if (seen + 1 == columns) cut = at;
    if (++seen > columns) return std::string(text.substr(0, cut)) + "…";
  }
  return std::string(text);
}

std::string padded(std::string_view text, std::size_t columns) {
  const std::string shown = fit(text, columns);
  std::size_t width = 0;
  for (const char byte : shown) width += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  return shown + std::string(columns - width, ' ');
}

}  // namespace spintag::daemon
