// tests/unit/daemon/input_files_test.cpp - daemon/ingest/input_files.h on a real folder.
#include "daemon/ingest/input_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace spintag::daemon {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InputFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "spintag-input-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text = "x") {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  fs::path folder_;
};

TEST_F(InputFilesTest, FolderGivesItsAudioFilesInOrderAndNothingHidden) {
  const std::string b = put("b.MP3");
  const std::string a = put("a/deep/song.flac");
  put("notes.txt");
  put(".hidden.mp3");
  put(".trash/old.mp3");
  const InputFiles found = find_input_files({folder_.string()});
  EXPECT_THAT(found.files, ElementsAre(a, b));
  EXPECT_THAT(found.bad, IsEmpty());
}

TEST_F(InputFilesTest, LoopOfLinksEndsAndLinkedFolderIsWalked) {
  put("music/a.mp3");
  fs::create_directory_symlink(folder_ / "music", folder_ / "music" / "again");
  fs::create_directory_symlink(folder_, folder_ / "music" / "up");
  const InputFiles found = find_input_files({(folder_ / "music").string()});
  EXPECT_THAT(found.files, ElementsAre((folder_ / "music" / "a.mp3").string()));
}

TEST_F(InputFilesTest, NamedFileIsTakenWhateverItsNameAndOnlyOnce) {
  const std::string odd = put("odd.name");
  EXPECT_THAT(find_input_files({odd, odd}).files, ElementsAre(odd));
}

TEST_F(InputFilesTest, FoldersHoldTunesToo) {
  const std::string a = put("a.mid");
  const std::string b = put("b.MIDI");
  const std::string c = put("c.Notes");
  put("d.note");
  EXPECT_THAT(find_input_files({folder_.string()}).files, ElementsAre(a, b, c));
}

TEST_F(InputFilesTest, FolderWithoutAudioMissingPathAndUrlAreNamed) {
  put("texts/readme.txt");
  const InputFiles found = find_input_files(
      {(folder_ / "texts").string(), (folder_ / "gone.mp3").string(), "http://example.org/x.mp3"});
  EXPECT_THAT(found.files, IsEmpty());
  ASSERT_EQ(found.bad.size(), 3U);
  EXPECT_EQ(found.bad[0].reason, "no audio files in this folder, nor MIDI or .notes files");
  EXPECT_EQ(found.bad[1].source, (folder_ / "gone.mp3").string());
  EXPECT_THAT(found.bad[2].reason, HasSubstr("URL"));
}

TEST_F(InputFilesTest, FolderWhoseFilesWereNamedBeforeIsNotEmpty) {
  const std::string a = put("a.mp3");
  const InputFiles found = find_input_files({a, folder_.string()});
  EXPECT_THAT(found.files, ElementsAre(a));
  EXPECT_THAT(found.bad, IsEmpty());
}

TEST_F(InputFilesTest, PlaylistEntriesStartAtThePlaylist) {
  put("cd/a.mp3");
  const std::string whole = put("b.mp3");
  const std::string list = put("lists/mine.m3u8", "#EXTM3U\n../cd/a.mp3\n..\\cd\\a.mp3\n" + whole +
                                                      "\nmissing.mp3\nhttps://x.example/y\n");
  const InputFiles found = find_input_files({list});
  EXPECT_THAT(found.files, ElementsAre((folder_ / "lists" / "../cd/a.mp3").string(), whole));
  ASSERT_EQ(found.bad.size(), 2U);
  EXPECT_EQ(found.bad[0].source, (folder_ / "lists" / "missing.mp3").string());
  EXPECT_THAT(found.bad[0].reason, HasSubstr("does not exist"));
  EXPECT_THAT(found.bad[1].reason, HasSubstr("URL"));
}

}  // namespace
}  // namespace spintag::daemon
