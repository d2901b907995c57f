// daemon/signature.cpp - HMAC-SHA256 through OpenSSL.
#include "daemon/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <stdexcept>

#include "config/secret.h"

namespace spintag::daemon {
std::string encode_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // EVP_EncodeBlock adds a NUL
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string sign_webhook(std::span<const std::string> secrets, std::string_view id,
                         std::int64_t timestamp, std::string_view body) {
  std::string message(id);
  message.append(".").append(std::to_string(timestamp)).append(".").append(body);
  std::string signatures;
  for (const std::string& secret : secrets) {
    const auto key = config::decode_secret(secret);
    if (!key) throw std::invalid_argument("a webhook secret is not whsec_ and base64");
    std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
    unsigned int length = 0;
    if (HMAC(EVP_sha256(), key->data(), static_cast<int>(key->size()),
             reinterpret_cast<const unsigned char*>(message.data()), message.size(), mac.data(),
             &length) == nullptr) {
      throw std::runtime_error("HMAC-SHA256 failed");
    }
    if (!signatures.empty()) signatures += ' ';
    signatures += "v1," + encode_base64({reinterpret_cast<const char*>(mac.data()), length});
  }
  return signatures;
}

}  // namespace spintag::daemon
