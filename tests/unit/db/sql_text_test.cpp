// tests/unit/db/sql_text_test.cpp - values as PostgreSQL writes them.
#include "db/sql_text.h"

#include <gtest/gtest.h>

#include <array>

namespace spintag::db {
namespace {

using namespace std::chrono;
using namespace std::string_literals;

TEST(CleanUtf8, ValidTextStays) {
  const std::string text = "Sigur R\u00f3s \u2013 \u0416\u6f22\U0001F3B5";
  EXPECT_EQ(clean_utf8(text), text);
  EXPECT_EQ(clean_utf8(""), "");
}

TEST(CleanUtf8, NulAndStrayBytesBecomeReplacementCharacters) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_utf8("a\0b"s), "a" + replacement + "b");
  EXPECT_EQ(clean_utf8("caf\xe9"), "caf" + replacement);
  EXPECT_EQ(clean_utf8("\xC0\x80"), replacement + replacement) << "an overlong NUL";
  EXPECT_EQ(clean_utf8("\xED\xA0\x80"), replacement + replacement + replacement) << "a surrogate";
  EXPECT_EQ(clean_utf8("\xF4\x90\x80\x80"), replacement + replacement + replacement + replacement)
      << "past U+10FFFF";
  EXPECT_EQ(clean_utf8("x\xE2\x82"), "x" + replacement + replacement) << "cut short";
}

TEST(PathText, EveryByteComesBack) {
  std::string path = "/music/";
  for (int byte = 1; byte < 256; ++byte) path += static_cast<char>(byte);
  const std::string text = encode_path(path);
  EXPECT_EQ(clean_utf8(text), text) << "the text is valid UTF-8";
  EXPECT_EQ(decode_path(text), path);
}

TEST(PathText, PathsThatDifferInOneStrayByteStayDifferent) {
  EXPECT_NE(encode_path("caf\xe9.mp3"), encode_path("caf\xe8.mp3"));
  const std::string written_out =
      "caf\xF4\x8F\xBF\xA9.mp3";  // U+10FFE9, which stands for the byte e9
  EXPECT_NE(encode_path("caf\xe9.mp3"), encode_path(written_out));
  EXPECT_EQ(decode_path(encode_path(written_out)), written_out);
}

TEST(PathText, OrdinaryPathsStayReadable) {
  EXPECT_EQ(encode_path("/music/\u00c9tude #1.flac"), "/music/\u00c9tude #1.flac");
}

TEST(TimeText, KnownInstants) {
  EXPECT_EQ(format_time(TimePoint{}), "1970-01-01 00:00:00.000000+00");
  EXPECT_EQ(format_time(TimePoint{-1us}), "1969-12-31 23:59:59.999999+00");
  EXPECT_EQ(format_time(TimePoint{1'000'000'000s + 7us}), "2001-09-09 01:46:40.000007+00");
  EXPECT_EQ(parse_time("2001-09-09 01:46:40.5+00"), TimePoint{1'000'000'000s + 500ms});
  EXPECT_EQ(parse_time("2001-09-09 01:46:40+00"), TimePoint{1'000'000'000s});
  EXPECT_EQ(parse_time("1969-12-31 23:59:59.999999+00"), TimePoint{-1us});
}

TEST(TimeText, YearsThatAreNoneAreRefused) {
  EXPECT_THROW(format_time(TimePoint::max()), StoreError);
  EXPECT_THROW(format_time(TimePoint::min()), StoreError);
  EXPECT_THROW(format_time(TimePoint{sys_days{year{10000} / 1 / 1}}), StoreError);
  EXPECT_EQ(format_time(TimePoint{sys_days{year{10000} / 1 / 1}} - 1us),
            "9999-12-31 23:59:59.999999+00");
  EXPECT_EQ(format_time(TimePoint{sys_days{year{1} / 1 / 1}}), "0001-01-01 00:00:00.000000+00");
}

TEST(ByteaText, Hex) {
  const std::array bytes{std::byte{0}, std::byte{0xff}, std::byte{0x5c}};
  EXPECT_EQ(format_bytea(bytes), "\\x00ff5c");
  EXPECT_EQ(format_bytea({}), "\\x");
}

TEST(ArrayText, RoundTripsWhatNeedsQuotes) {
  const std::vector<std::string> values{"GBAYE0601498", "",   "a,b", "\"q\"",
                                        "back\\slash",  "{}", "NULL"};
  EXPECT_EQ(parse_text_array(format_text_array(values)), values);
  EXPECT_TRUE(parse_text_array("{}").empty());
  EXPECT_EQ(parse_text_array("{US1,\"x y\"}"), (std::vector<std::string>{"US1", "x y"}));
}

}  // namespace
}  // namespace spintag::db
