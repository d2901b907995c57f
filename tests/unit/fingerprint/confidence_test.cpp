// tests/unit/fingerprint/confidence_test.cpp - how sure what is missing and what is foreign make a
// tag. What the fit's numbers are is not told here, only what must hold of any.
#include "fingerprint/confidence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fingerprint/account.h"

namespace spintag::fingerprint {
namespace {

/// Accounts from hopeless to perfect.
std::vector<Account> accounts() {
  std::vector<Account> made;
  for (const double masking : {-3.0, -1.0, 0.0, 1.0, 2.5}) {
    for (const double share : {0.0, 0.2, 0.5, 0.9}) {
      Account account{.masking = masking,
                      .explained_share = share,
                      .foreign_per_s = 12 * (1 - share),
                      .foreign_db = 20,
                      .moments = 30};
      made.push_back(account);
      account.missing_share = 1 - share;
      account.deficit = 2 * (1 - share);
      made.push_back(account);
    }
  }
  return made;
}

TEST(Confidence, GrowsWithScoreAndStaysBelowOne) {
  for (const Account& account : accounts()) {
    for (const double window_s : {0.5, 2.0, 5.0, 10.0, 30.0}) {
      double previous = 0;
      for (double score = 0; score < 2000; score += score < 100 ? 0.5 : 50) {
        const double confidence = confidence_of(score, account, window_s, 1000);
        ASSERT_GE(confidence, previous) << score;
        ASSERT_LT(confidence, 1) << score;
        previous = confidence;
      }
    }
  }
  EXPECT_GT(confidence_of(300, {.masking = 1, .explained_share = 0.9, .moments = 50}, 10, 1000),
            0.999);
}

TEST(Confidence, FallsWithTheNumberOfTracks) {
  std::size_t fallen = 0;
  for (const Account& account : accounts()) {
    for (const double score : {10.0, 20.0, 40.0, 80.0}) {
      double previous = 1;
      const double first = confidence_of(score, account, 10, 0);
      for (const std::size_t tracks : {0UL, 1UL, 1'000UL, 100'000UL, 10'000'000UL}) {
        const double confidence = confidence_of(score, account, 10, tracks);
        ASSERT_LE(confidence, previous) << score << " of " << tracks;
        ASSERT_GE(confidence, 0);
        previous = confidence;
      }
      fallen += previous < first ? 1 : 0;
    }
  }
  EXPECT_GT(fallen, 80U) << "of 160";
}

TEST(Confidence, LongerWindowsNeedAHigherScoreAndMaskedTracksALowerOne) {
  const auto score_for = [](double confidence, const Account& account, double window_s) {
    double score = 0;
    while (score < 1000 && confidence_of(score, account, window_s, 100) < confidence) score += 0.1;
    return score;
  };
  Account account{.masking = 0, .explained_share = 0.5, .moments = 25};
  const double asked = score_for(0.999, account, 5);
  EXPECT_TRUE(worth_judging(asked, 100));
  EXPECT_LT(asked, 1000);
  EXPECT_GT(score_for(0.999, account, 10), asked);
  account.masking = 1;
  EXPECT_LT(score_for(0.999, account, 5), asked);
  account.masking = -1;
  EXPECT_GT(score_for(0.999, account, 5), asked);
}

TEST(Confidence, EnergyThatIsMissingIsBelievedLess) {
  Account account{.deficit = 0, .explained_share = 0.5, .foreign_db = 15, .moments = 30};
  double previous = 1;
  for (const double deficit : {0.5, 1.0, 1.5, 2.0, 2.5}) {
    account.deficit = deficit;
    const double confidence = confidence_of(40, account, 10, 100);
    EXPECT_LT(confidence, previous) << deficit;
    previous = confidence;
  }
}

TEST(Confidence, FewMomentsAndShortWindowsAreBelievedLess) {
  const Account many{.masking = -1.5, .explained_share = 0.5, .foreign_db = 15, .moments = 30};
  Account few = many;
  few.moments = 6;
  EXPECT_LT(confidence_of(40, few, 5, 100), confidence_of(40, many, 5, 100));
  EXPECT_LT(confidence_of(30, many, 2.5, 100), confidence_of(60, many, 5, 100))
      << "the same score a second";
}

TEST(Confidence, ChanceIsNotJudgedWhateverItAccountsFor) {
  for (const std::size_t tracks : {1, 100, 1'000'000}) {
    double score = 0;
    while (!worth_judging(score, tracks)) score += 0.25;
    EXPECT_GT(score, 5);
    for (const Account& account : accounts()) {
      EXPECT_EQ(confidence_of(score - 0.25, account, 5, tracks), 0);
      EXPECT_EQ(confidence_of(0, account, 5, tracks), 0);
    }
  }
  EXPECT_TRUE(worth_judging(15, 100));
  EXPECT_FALSE(worth_judging(15, 1'000'000));
}

TEST(Confidence, AlignmentSaysWhatTheVerdictFound) {
  const Verdict verdict{.fit = {12.5, 1.02, 0.97}, .score = 60, .found_share = 0.7};
  const Account account{.masking = 0.5, .explained_share = 0.8};
  const Alignment alignment = to_alignment(42, verdict, account, 30, 40, 5000);
  EXPECT_EQ(alignment.track_id, 42);
  EXPECT_EQ(alignment.start_s, 30);
  EXPECT_EQ(alignment.end_s, 40);
  EXPECT_EQ(alignment.track_start_s, 12.5);
  EXPECT_EQ(alignment.tempo, 1.02);
  EXPECT_EQ(alignment.pitch, 0.97);
  EXPECT_EQ(alignment.score, 60);
  EXPECT_EQ(alignment.found_share, 0.7);
  EXPECT_EQ(alignment.confidence, confidence_of(60, account, 10, 5000));
}

}  // namespace
}  // namespace spintag::fingerprint
