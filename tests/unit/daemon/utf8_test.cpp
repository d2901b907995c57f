// tests/unit/daemon/utf8_test.cpp - daemon/utf8.h.
#include "daemon/utf8.h"

#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

TEST(Utf8, WellFormedTextStaysAsItIs) {
  for (const char* text : {"", "plain", "Motörhead", "東京", "🎵"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(to_utf8(text), text);
  }
}

TEST(Utf8, OverlongSurrogateTooLargeAndCutSequencesAreNotUtf8) {
  for (const char* text : {"\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xE6\x9D", "\xFF", "\x80"}) {
    EXPECT_FALSE(is_utf8(text));
  }
  EXPECT_FALSE(is_utf8(std::string_view("a\0b", 3))) << "a database text holds no NUL";
}

TEST(Utf8, NamesThatDifferStayDifferent) {
  EXPECT_EQ(to_utf8("caf\xE9.mp3"), "caf\\xE9.mp3");
  EXPECT_NE(to_utf8("caf\xE9.mp3"), to_utf8("caf\xE8.mp3"));
}

TEST(Utf8, TidyLeavesOneLineWithoutBlanksAround) {
  EXPECT_EQ(tidy("  two\nlines\t "), "two lines");
  EXPECT_EQ(tidy(std::string_view("cut\0", 4)), "cut");
  EXPECT_EQ(tidy(" \r\n"), "");
}

TEST(Utf8, FitCountsCharactersNotBytes) {
  EXPECT_EQ(fit("Motörhead", 9), "Motörhead");
  EXPECT_EQ(fit("Motörhead", 6), "Motör…");
  EXPECT_EQ(fit("abc", 1), "…");
}

TEST(Utf8, PaddedTextHasAllItsColumns) {
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(padded("\u00e4b", 4), "\u00e4b  ") << "a code point is a column";
  EXPECT_EQ(padded("abcd", 4), "abcd");
  EXPECT_EQ(padded("abcde", 4), "abc\u2026");
}

}  // namespace
}  // namespace spintag::daemon
