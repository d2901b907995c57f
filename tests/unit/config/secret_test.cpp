// tests/unit/config/secret_test.cpp - webhook secrets decode to their key bytes.
#include "config/secret.h"

#include <gtest/gtest.h>

namespace spintag::config {
namespace {

TEST(DecodeSecret, BytesAreThoseThatWereEncoded) {
  std::string expected;  // base64 of the bytes 0 to 31, by coreutils base64
  for (char byte = 0; byte < 32; ++byte) expected.push_back(byte);
  EXPECT_EQ(decode_secret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), expected);
  EXPECT_EQ(decode_secret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"), expected);
  EXPECT_EQ(decode_secret("whsec_////////////////////////////////"), std::string(24, '\xFF'));
}

TEST(DecodeSecret, RefusesWhatIsNoSecret) {
  EXPECT_FALSE(decode_secret("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="));
  EXPECT_FALSE(decode_secret("whsec_AAEC"));                              // too short
  EXPECT_FALSE(decode_secret("whsec_" + std::string(88, 'A')));           // 66 bytes
  EXPECT_FALSE(decode_secret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMU*BYX"));  // not base64
  EXPECT_FALSE(decode_secret("whsec_" + std::string(33, 'A')));           // no such length
}

}  // namespace
}  // namespace spintag::config
