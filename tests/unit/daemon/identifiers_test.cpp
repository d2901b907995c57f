// tests/unit/daemon/identifiers_test.cpp - daemon/ingest/identifiers.h.
#include "daemon/ingest/identifiers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(Identifiers, IsrcHasOneForm) {
  for (const char* text :
       {"USRC17607839", "us-rc1-76-07839", " USRC17607839\n", "ISRC-US-RC1-76-07839"}) {
    EXPECT_EQ(normal_isrc(text), "USRC17607839") << text;
  }
}

TEST(Identifiers, WhatIsNoIsrcIsRefused) {
  for (const char* text :
       {"", "USRC1760783", "USRC176078390", "1SRC17607839", "USRC1760783X", "US_C17607839"}) {
    EXPECT_EQ(normal_isrc(text), std::nullopt) << text;
  }
}

TEST(Identifiers, ListOfIsrcsHoldsEachOnce) {
  EXPECT_THAT(normal_isrcs("USRC17607839, GBAYE0601477;USRC17607839 / FRZ039800212"),
              Optional(ElementsAre("USRC17607839", "GBAYE0601477", "FRZ039800212")));
  EXPECT_THAT(normal_isrcs("  "), Optional(IsEmpty()));
  EXPECT_EQ(normal_isrcs("USRC17607839 nonsense"), std::nullopt);
}

TEST(Identifiers, MbidIsAUuidInLowerCase) {
  EXPECT_EQ(normal_mbid("B1A9C0E9-D987-4042-AE91-78D6A3267D69"),
            "b1a9c0e9-d987-4042-ae91-78d6a3267d69");
  EXPECT_EQ(normal_mbid("b1a9c0e9-d987-4042-ae91-78d6a3267d6"), std::nullopt);
  EXPECT_EQ(normal_mbid("b1a9c0e9xd987-4042-ae91-78d6a3267d69"), std::nullopt);
  EXPECT_EQ(normal_mbid("g1a9c0e9-d987-4042-ae91-78d6a3267d69"), std::nullopt);
}

}  // namespace
}  // namespace spintag::daemon
