// config/secret.h - webhook secrets as the Standard Webhooks specification writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spintag::config {

/// The key bytes of "whsec_" + base64 (standard alphabet, padding optional). Nothing if it is not
/// written so, or if the key is not 24 to 64 bytes long (Standard Webhooks 1.0, "Signature
/// scheme").
std::optional<std::string> decode_secret(std::string_view text);

}  // namespace spintag::config
