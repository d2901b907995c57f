// daemon/signature.h - signatures of webhooks.
// Source: Standard Webhooks 1.0, "Signature scheme", symmetric signatures (v1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace spintag::daemon {

/// The value of the header webhook-signature: "v1," + base64(HMAC-SHA256(key, id.timestamp.body))
/// for each secret, with a blank between them, so that a receiver that knows any one of the secrets
/// can verify while they rotate.
/// @param secrets    "whsec_..." as the settings hold them
/// @param timestamp  value of webhook-timestamp, in seconds since 1970
/// @throws std::invalid_argument if a secret is not one (the settings refuse such)
std::string sign_webhook(std::span<const std::string> secrets, std::string_view id,
                         std::int64_t timestamp, std::string_view body);

/// Standard alphabet, padded.
std::string encode_base64(std::string_view bytes);

}  // namespace spintag::daemon
