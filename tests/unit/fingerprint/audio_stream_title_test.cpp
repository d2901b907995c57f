// tests/unit/fingerprint/audio_stream_title_test.cpp - titles from encoders, and how sources are
// shown.
#include "fingerprint/audio/stream_title.h"

#include <gtest/gtest.h>

#include "fingerprint/audio/reader.h"
#include "fingerprint/audio/source.h"

namespace spintag::fingerprint {
namespace {

TEST(StreamTitle, IsTakenFromAnIcyPacket) {
  EXPECT_EQ(parse_icy_title("StreamTitle='Ann - One';StreamUrl='';"), "Ann - One");
  EXPECT_EQ(parse_icy_title("StreamTitle='Ann - One';"), "Ann - One");
  EXPECT_EQ(parse_icy_title("StreamTitle='Guns N' Roses - Don't';StreamUrl='http://x/';"),
            "Guns N' Roses - Don't");
  EXPECT_EQ(parse_icy_title("StreamTitle='a'; b';StreamUrl='x';"), "a'; b");
  EXPECT_EQ(parse_icy_title("StreamTitle='';"), "");
  EXPECT_EQ(parse_icy_title("StreamUrl='x';"), "");
  EXPECT_EQ(parse_icy_title(""), "");
  EXPECT_EQ(parse_icy_title("StreamTitle='cut o"), "cut o");
}

TEST(StreamTitle, TextBecomesUtf8) {
  EXPECT_EQ(clean_text("Bj\xC3\xB6rk"), "Bj\xC3\xB6rk");
  EXPECT_EQ(clean_text("Bj\xF6rk"), "Bj\xC3\xB6rk");
  EXPECT_EQ(clean_text("\xE2\x82\xAC"), "\xE2\x82\xAC");
  EXPECT_EQ(clean_text("\xC0\xAF"), "\xC3\x80\xC2\xAF") << "overlong: no UTF-8, so Latin-1";
  EXPECT_EQ(clean_text("\xED\xA0\x80"), "\xC3\xAD\xC2\xA0\xC2\x80") << "a surrogate";
  EXPECT_EQ(clean_text("cut \xE2\x82"), "cut \xC3\xA2\xC2\x82");
  EXPECT_EQ(clean_text("  a\n\tb\x7F "), "ab");
  EXPECT_EQ(clean_text("   "), "");
}

TEST(StreamTitle, VorbisCommentsAreJoined) {
  EXPECT_EQ(join_title("Ann", "One"), "Ann - One");
  EXPECT_EQ(join_title("", "One"), "One");
  EXPECT_EQ(join_title("Ann", ""), "Ann");
}

TEST(Source, SecretsOfAUrlAreNotShown) {
  EXPECT_EQ(shown_source("http://user:pass@host:8000/live?token=1"), "http://host:8000/live");
  EXPECT_EQ(shown_source("https://host/a@b"), "https://host/a@b");
  EXPECT_EQ(shown_source("http://us@er:p@host/"), "http://host/");
  EXPECT_EQ(shown_source("http://host?x=1"), "http://host");
  EXPECT_EQ(shown_source("/music/what?.mp3"), "/music/what?.mp3");
  EXPECT_EQ(shown_source("-"), "standard input");
}

TEST(Source, NetworkIsHttpAndHttpsInAnyCase) {
  EXPECT_TRUE(is_network_source("http://host/"));
  EXPECT_TRUE(is_network_source("HTTPS://host/"));
  EXPECT_FALSE(is_network_source("httpx://host/"));
  EXPECT_FALSE(is_network_source("/tmp/http://host/"));
  EXPECT_FALSE(is_network_source("-"));
  EXPECT_EQ(classify_source("-"), SourceKind::kStandardInput);
  EXPECT_EQ(classify_source("./-"), SourceKind::kFile);
  EXPECT_EQ(classify_source("a.mp3"), SourceKind::kFile);
  EXPECT_EQ(classify_source("Http://host/"), SourceKind::kNetwork);
  EXPECT_THROW(classify_source("rtsp://host/"), AudioError);
}

}  // namespace
}  // namespace spintag::fingerprint
