// tests/unit/daemon/tags_test.cpp - daemon/ingest/tags.h: what becomes of tag values.
#include "daemon/ingest/tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace spintag::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Tags, WithoutTitleTheFileNameIsTheTitle) {
  EXPECT_EQ(describe({}, "04 Some Song").title, "04 Some Song");
  EXPECT_EQ(describe({{"TITLE", {"  "}}}, "stem").title, "stem");
  EXPECT_EQ(describe({{"TITLE", {"Real"}}}, "stem").title, "Real");
}

TEST(Tags, EveryKnownTagHasItsField) {
  const db::TrackInfo info =
      describe({{"TITLE", {"T"}},
                {"ARTIST", {"A", "B"}},
                {"ALBUM", {"L"}},
                {"LABEL", {"Sun"}},
                {"COMPOSER", {"C"}},
                {"ISRC", {"US-RC1-76-07839", "GBAYE0601477"}},
                {"MUSICBRAINZ_TRACKID", {"B1A9C0E9-D987-4042-AE91-78D6A3267D69"}},
                {"DATE", {"1976"}},
                {"ENCODER", {"x"}}},
               "stem");
  EXPECT_EQ(info.artist, "A; B");
  EXPECT_EQ(info.album, "L");
  EXPECT_EQ(info.label, "Sun");
  EXPECT_EQ(info.composer, "C");
  EXPECT_THAT(info.isrcs, ElementsAre("USRC17607839", "GBAYE0601477"));
  EXPECT_EQ(info.recording_mbid, "b1a9c0e9-d987-4042-ae91-78d6a3267d69");
  EXPECT_EQ(nlohmann::json::parse(info.extra_json), nlohmann::json({{"date", "1976"}}));
}

TEST(Tags, LabelIsTakenFromWhicheverTagNamesIt) {
  EXPECT_EQ(describe({{"ORGANIZATION", {"Org"}}}, "s").label, "Org");
  EXPECT_EQ(describe({{"ORGANIZATION", {"Org"}}, {"LABEL", {"Lab"}}}, "s").label, "Lab");
}

TEST(Tags, MalformedIdentifiersAreLeftOut) {
  const db::TrackInfo info =
      describe({{"ISRC", {"unknown", "USRC17607839"}}, {"MUSICBRAINZ_TRACKID", {"17"}}}, "s");
  EXPECT_THAT(info.isrcs, ElementsAre("USRC17607839"));
  EXPECT_THAT(info.recording_mbid, IsEmpty());
}

}  // namespace
}  // namespace spintag::daemon
