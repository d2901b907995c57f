// tests/unit/daemon/metadata_sidecar_test.cpp - daemon/ingest/metadata_sidecar.h.
#include "daemon/ingest/metadata_sidecar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace spintag::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MetadataSidecar parse(const std::string& text, const std::filesystem::path& folder = "/music") {
  std::istringstream in(text);
  return MetadataSidecar::parse(in, "new.csv", folder);
}

std::string fault(const std::string& text) {
  try {
    parse(text);
  } catch (const SidecarError& error) {
    return error.what();
  }
  return {};
}

TEST(MetadataSidecar, RowWinsOverTagsAndEmptyFieldChangesNothing) {
  const auto sidecar = parse(
      "File,Title,artist,isrc,mood\n"
      "a.mp3,\"New, better\",,USRC17607839 GBAYE0601477,calm\n");
  db::TrackInfo info;
  info.title = "Old";
  info.artist = "Kept";
  info.extra_json = R"({"date":"1976"})";
  ASSERT_TRUE(sidecar.apply("/anywhere/a.mp3", info));
  EXPECT_EQ(info.title, "New, better");
  EXPECT_EQ(info.artist, "Kept");
  EXPECT_THAT(info.isrcs, ElementsAre("USRC17607839", "GBAYE0601477"));
  EXPECT_EQ(nlohmann::json::parse(info.extra_json),
            nlohmann::json({{"date", "1976"}, {"mood", "calm"}}));
}

TEST(MetadataSidecar, RowOfAnotherFileDoesNotApply) {
  const auto sidecar = parse("file,title\na.mp3,A\n");
  db::TrackInfo info;
  EXPECT_FALSE(sidecar.apply("/music/b.mp3", info));
  EXPECT_EQ(info.title, "");
}

TEST(MetadataSidecar, PathsMeanFromWhereTheSidecarLiesOrWhole) {
  const auto sidecar = parse("path,title\ncd1/a.mp3,One\n/music/cd2/../cd3/a.mp3,Three\n");
  db::TrackInfo info;
  ASSERT_TRUE(sidecar.apply("/music/cd1/a.mp3", info));
  EXPECT_EQ(info.title, "One");
  ASSERT_TRUE(sidecar.apply("/music/cd3/./a.mp3", info));
  EXPECT_EQ(info.title, "Three");
  EXPECT_FALSE(sidecar.apply("/music/cd2/a.mp3", info)) << "a path is not a name";
}

TEST(MetadataSidecar, FaultsNameFileAndLineAllAtOnce) {
  const std::string faults = fault(
      "file,title,isrc\n"
      "a.mp3,A\n"
      "b.mp3,B,not-an-isrc\n"
      ",C,\n"
      "d.mp3,D,\n"
      "d.mp3,D again,\n");
  EXPECT_THAT(faults, HasSubstr("new.csv:2: 2 fields, but the header has 3"));
  EXPECT_THAT(faults, HasSubstr("new.csv:3: isrc:"));
  EXPECT_THAT(faults, HasSubstr("new.csv:4: names no file"));
  EXPECT_THAT(faults, HasSubstr("new.csv:6: \"d.mp3\" was described on line 5"));
}

TEST(MetadataSidecar, HeaderMustSayWhichColumnNamesTheFile) {
  EXPECT_THAT(fault("title,artist\nA,B\n"), HasSubstr("new.csv:1: no column named"));
  EXPECT_THAT(fault("file,source\na,b\n"), HasSubstr("new.csv:1: only one of"));
  EXPECT_THAT(fault("file,title,Title\na,b,c\n"), HasSubstr("new.csv:1: column title"));
  EXPECT_THAT(fault(""), HasSubstr("new.csv:1: no header row"));
}

TEST(MetadataSidecar, RowsAboutNoFileAreKnownByTheirLine) {
  const auto sidecar = parse("path,title\na.mp3,A\nmistyped.mp3,B\ncd1/c.mp3,C\n");
  EXPECT_THAT(sidecar.lines_without_file({"/x/a.mp3", "/music/cd1/c.mp3", "/x/other.mp3"}),
              ElementsAre(3U));
}

TEST(MetadataSidecar, MissingFileIsNamed) {
  try {
    MetadataSidecar::read("/nonexistent/new.csv");
    FAIL() << "was read";
  } catch (const SidecarError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/new.csv: No such file"));
  }
}

}  // namespace
}  // namespace spintag::daemon
