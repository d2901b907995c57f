// tests/unit/config/mask_test.cpp - mask_url shows no password, whatever the URL looks like.
#include <gtest/gtest.h>

#include "config/settings.h"

namespace spintag::config {
namespace {

TEST(MaskUrl, PasswordIsMaskedAndTheRestStays) {
  EXPECT_EQ(mask_url("postgresql://me:pw@host:5432/db?sslmode=require"),
            "postgresql://me:***@host:5432/db?sslmode=require");
  EXPECT_EQ(mask_url("https://host/hook?room=3&access_token=abc&x"),
            "https://host/hook?room=3&access_token=***&x");
}

TEST(MaskUrl, WithoutASecretNothingChanges) {
  for (const char* url : {"", "postgresql://me@host/db", "http://[::1]:80/x", "http://host:80/@me",
                          "https://h/?a=b"}) {
    EXPECT_EQ(mask_url(url), url);
  }
}

TEST(MaskUrl, PasswordWithMarksOfItsOwnIsMasked) {
  EXPECT_EQ(mask_url("postgresql://me:p@ss@host/db"), "postgresql://me:***@host/db");
  EXPECT_EQ(mask_url("postgresql://me:p/s@host/db"), "postgresql://me:***@host/db");
  EXPECT_EQ(mask_url("postgresql://me:p?s@host/db"), "postgresql://me:***@host/db");
}

TEST(MaskUrl, ConnectionStringIsMasked) {
  EXPECT_EQ(mask_url("host=h password=pw dbname=d"), "host=h password=*** dbname=d");
  EXPECT_EQ(mask_url("password = 'a b\\'c' user=me"), "password = *** user=me");
}

}  // namespace
}  // namespace spintag::config
