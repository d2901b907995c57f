// tests/unit/config/nearest_test.cpp - the known word that somebody most likely meant.
#include "config/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace spintag::config {
namespace {

TEST(EditDistance, CountsEachKindOfEditOnce) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("titel", "title"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"),
            3U);  // optimal string alignment: no edit inside a swapped pair
}

TEST(EditDistance, IsTheSameBothWays) {
  EXPECT_EQ(edit_distance("threshold", "treshhold"), edit_distance("treshhold", "threshold"));
}

TEST(Suggest, NamesANearWordElseAllOfThem) {
  constexpr std::array<std::string_view, 3> kWords = {"listen", "token", "level"};
  EXPECT_EQ(suggest("tokn", kWords), "did you mean token?");
  EXPECT_EQ(suggest("password", kWords), "known: listen, token, level");
  EXPECT_EQ(suggest("x", {}), "nothing is known here");
}

}  // namespace
}  // namespace spintag::config
