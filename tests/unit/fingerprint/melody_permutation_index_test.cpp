// tests/unit/fingerprint/melody_permutation_index_test.cpp - the fast match nominates what a hum is
// of.
#include "fingerprint/melody/permutation_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fingerprint/melody/melody_matcher.h"
#include "tests/unit/fingerprint/sung_melodies.h"

namespace spintag::fingerprint {
namespace {

class PermutationIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    for (unsigned seed = 0; seed < 150; ++seed) index_.add(random_melody(100 + seed));
  }

  const std::vector<double> tempi_ = {0.6, 0.8, 1.0, 1.25, 1.6};
  MelodyIndex index_;
};

TEST_F(PermutationIndexTest, NominatesTheMelodyWhateverKeyTempoAndStart) {
  const PermutationIndex fast(index_);
  for (const double tempo : {0.8, 1.25}) {
    for (const float key : {-5.3F, 0.0F, 9.1F}) {
      const Singer singer{.from = 7,
                          .notes = 30,
                          .tempo = static_cast<float>(tempo),
                          .key = key,
                          .wrong_semitones = 0.3F};
      const auto few = fast.candidates(sung(index_.melody(60), singer), tempi_, 0.05);
      EXPECT_THAT(few, testing::Contains(60U)) << tempo << " " << key;
    }
  }
}

TEST_F(PermutationIndexTest, MelodyOfOneNoteAfterARestHasItsVector) {
  MelodyIndex one;
  one.add({{{1, 0.5F, 60}}, {}});
  const PermutationIndex fast(one);
  EXPECT_EQ(fast.candidates(Contour(80, 60.0F), std::vector<double>{1}, 1).size(), 1U);
}

TEST_F(PermutationIndexTest, GivesTheShareThatIsAskedForEachMelodyOnce) {
  const PermutationIndex fast(index_);
  const Contour hum = sung(index_.melody(3), {});
  EXPECT_EQ(fast.candidates(hum, tempi_, 0.1).size(), 15U);
  EXPECT_EQ(fast.candidates(hum, tempi_, 0.001).size(), 1U);
  auto all = fast.candidates(hum, tempi_, 0.999);
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i);
  EXPECT_EQ(all.size(), index_.size());
}

TEST_F(PermutationIndexTest, LargerSharesHoldTheSmallerOnes) {
  const PermutationIndex fast(index_);
  const Contour hum = sung(index_.melody(3), {.wrong_semitones = 0.8F});
  const auto few = fast.candidates(hum, tempi_, 0.1);
  auto more = fast.candidates(hum, tempi_, 0.3);
  ASSERT_GT(more.size(), few.size());
  more.resize(few.size());
  EXPECT_EQ(more, few);
}

TEST_F(PermutationIndexTest, TheSameMelodiesGiveTheSameIndex) {
  const Contour hum = sung(index_.melody(9), {.wrong_semitones = 0.8F});
  EXPECT_EQ(PermutationIndex(index_).candidates(hum, tempi_, 0.4),
            PermutationIndex(index_).candidates(hum, tempi_, 0.4));
}

TEST_F(PermutationIndexTest, MatcherLooksAtTheNominatedOnly) {
  const PermutationIndex fast(index_);
  const Contour hum = sung(index_.melody(77), {.from = 4, .notes = 24});
  MelodyMatchParams params;
  params.share = 0.1;
  kernels::Device device = kernels::Device::cpu();
  const auto matches = MelodyMatcher(index_, params, &fast).match(device, hum);
  EXPECT_LE(matches.size(), 15U);
  ASSERT_FALSE(matches.empty());
  EXPECT_EQ(matches[0].melody, 77U);
}

TEST(PermutationIndex, NoMelodiesAndNoVoice) {
  MelodyIndex index;
  const std::vector<double> tempi = {1};
  EXPECT_TRUE(PermutationIndex(index).candidates(Contour(200, 60), tempi, 0.5).empty());
  index.add(random_melody(1));
  index.add(random_melody(2));
  const PermutationIndex fast(index);
  EXPECT_EQ(fast.candidates({}, tempi, 0.5).size(), 2U);  // nothing speaks against any of them
  EXPECT_EQ(fast.candidates(Contour(3, 60), tempi, 0.5).size(), 1U);
}

}  // namespace
}  // namespace spintag::fingerprint
