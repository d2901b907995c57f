// config/secret.cpp - base64 of webhook secrets.
#include "config/secret.h"

#include <cstdint>

namespace spintag::config {
namespace {

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const bool padded = text.size() % 4 == 0;
  for (int padding = 0; padded && padding < 2 && text.ends_with('='); ++padding) {
    text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char letter : text) {
    const std::size_t value = kAlphabet.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xFFFFFFU;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push_back(static_cast<char>(bits >> held & 0xFFU));
    }
  }
  return bytes;
}

}  // namespace

std::optional<std::string> decode_secret(std::string_view text) {
  constexpr std::string_view kPrefix = "whsec_";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  auto key = decode_base64(text.substr(kPrefix.size()));
  if (!key || key->size() < 24 || key->size() > 64) return std::nullopt;
  return key;
}

}  // namespace spintag::config
