// tests/unit/daemon/signature_test.cpp - signatures equal those of an independent tool.
#include "daemon/signature.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace spintag::daemon {
namespace {

// Expected values: printf 'ID.TIMESTAMP.BODY' | openssl dgst -sha256 -mac HMAC -macopt hexkey:KEY
// -binary | base64
const std::string kFirst = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string kSecond = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

TEST(SignWebhook, EqualsOpensslDgst) {
  const std::vector<std::string> secrets = {kFirst};
  EXPECT_EQ(
      sign_webhook(secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})"),
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(SignWebhook, SignsByEverySecretWhileTheyRotate) {
  const std::vector<std::string> secrets = {kFirst, kSecond};
  EXPECT_EQ(
      sign_webhook(secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})"),
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= "
      "v1,O4Gjv1HqPqsMrjmczoggs/sWA8gZD0VyHG+fLh4+ktI=");
}

TEST(SignWebhook, RefusesWhatIsNoSecret) {
  const std::vector<std::string> secrets = {"swordfish"};
  EXPECT_THROW(sign_webhook(secrets, "id", 1, "{}"), std::invalid_argument);
}

TEST(EncodeBase64, PadsAsRfc4648Shows) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace spintag::daemon
