// tests/unit/daemon/playlist_test.cpp - daemon/ingest/playlist.h.
#include "daemon/ingest/playlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace spintag::daemon {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> parse(const std::string& text, bool is_pls) {
  std::istringstream in(text);
  return parse_playlist(in, is_pls);
}

TEST(Playlist, M3uEntriesAreTheLinesThatAreNoComments) {
  EXPECT_THAT(
      parse("\xEF\xBB\xBF#EXTM3U\r\n#EXTINF:123,A - B\r\ncd 1/a.mp3\r\n\r\n/abs/b.ogg", false),
      ElementsAre("cd 1/a.mp3", "/abs/b.ogg"));
}

TEST(Playlist, PlsEntriesAreItsFileKeys) {
  EXPECT_THAT(parse("[playlist]\nFile1=a.mp3\nTitle1=File9=x\nfile2=b=c.mp3\nFilename=no\n", true),
              ElementsAre("a.mp3", "b=c.mp3"));
}

TEST(Playlist, FileUrlOfThisHostIsAPath) {
  EXPECT_THAT(
      parse("file:///music/a%20b%C3%A9.mp3\nFILE://localhost/x%zz.mp3\nfile://nas/y.mp3\n", false),
      ElementsAre("/music/a bé.mp3", "/x%zz.mp3", "file://nas/y.mp3"));
}

TEST(Playlist, IsKnownByItsExtension) {
  EXPECT_TRUE(is_playlist("x.M3U8"));
  EXPECT_TRUE(is_playlist("x.pls"));
  EXPECT_FALSE(is_playlist("x.mp3"));
}

}  // namespace
}  // namespace spintag::daemon
