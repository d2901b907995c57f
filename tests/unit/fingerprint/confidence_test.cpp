// tests/unit/fingerprint/confidence_test.cpp - what is missing and what is foreign, and how sure
// that makes a tag. What the fit's numbers are is not told here, only what must hold of any.
#include "fingerprint/confidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "fingerprint/account.h"
#include "fingerprint/peak_order.h"
#include "fingerprint/reference.h"

namespace spintag::fingerprint {
namespace {

constexpr double kSeconds = 10;

/// Eight peaks a second, 125 ms and at least 60 Hz apart: none hides another.
std::vector<Peak> track_peaks() {
  std::vector<Peak> peaks;
  for (int i = 0; i < 80; ++i)
    peaks.push_back({0.06 + 0.125 * i, 400.0F + 60.0F * static_cast<float>(i * 29 % 67), 18});
  return peaks;
}

std::vector<ReferencePoint> points_of(const std::vector<Peak>& track, const Fit& fit) {
  return reference_points(make_reference(track), fit, kSeconds);
}

Account account_of(std::vector<Peak> query, const std::vector<Peak>& track, const Fit& fit = {}) {
  std::sort(query.begin(), query.end(), is_earlier);
  QueryView view;
  view.assign(query, 0, kSeconds);
  return account_for(view, points_of(track, fit), fit.pitch, fit);
}

/// A peak's neighbour that hides it, and is no counterpart of it.
Peak masker_of(const Peak& peak, float salience_db = 34) {
  return {peak.time_s + 0.045, peak.freq_hz + 14, salience_db};
}

TEST(Account, TrackByItselfIsFoundWholeAndExplainsAll) {
  const auto track = track_peaks();
  ASSERT_EQ(points_of(track, {}).size(), track.size()) << "the material is a reference as it is";
  const Account account = account_of(track, track);
  EXPECT_EQ(account.explained_share, 1);
  EXPECT_EQ(account.foreign_per_s, 0);
  EXPECT_EQ(account.foreign_db, 0);
}

TEST(Account, TrackExplainsWhatIsLeftOfIt) {
  const auto track = track_peaks();
  std::vector<Peak> query;
  for (std::size_t i = 0; i < track.size(); ++i) {
    if (i % 4 != 0) query.push_back(track[i]);
  }
  const Account account = account_of(query, track);
  EXPECT_EQ(account.explained_share, 1);
  EXPECT_EQ(account.foreign_per_s, 0);
}

TEST(Account, MissingBesideStrongPeaksIsMaskingAndMissingAnywhereIsNot) {
  const auto track = track_peaks();
  std::vector<Peak> masked;
  std::vector<Peak> absent;
  for (std::size_t i = 0; i < track.size(); ++i) {
    const bool missing = i % 3 == 0;
    if (!missing) {
      masked.push_back(track[i]);
      absent.push_back(track[i]);
    } else {
      masked.push_back(masker_of(track[i]));
      // As many as strong ones elsewhere: nothing of the track is near in time and frequency.
      Peak elsewhere = track[i];
      elsewhere.freq_hz =
          elsewhere.freq_hz < 2400 ? elsewhere.freq_hz + 2000 + 30 : elsewhere.freq_hz - 2000 - 30;
      elsewhere.salience_db = 34;
      absent.push_back(elsewhere);
    }
  }
  const Account of_masked = account_of(masked, track);
  const Account of_absent = account_of(absent, track);
  EXPECT_GT(of_masked.masking, of_absent.masking + 0.5);
  EXPECT_GT(of_masked.masking, 0);
  EXPECT_LT(of_absent.masking, 0);
}

TEST(Account, ForeignPeaksAreCountedAndTheirStrengthIsTold) {
  const auto track = track_peaks();
  for (const float salience_db : {30.0F, 16.0F, 6.0F}) {
    std::vector<Peak> query = track;
    for (int i = 0; i < 30; ++i) {  // three a second, far from the track's
      const Peak& beside = track[static_cast<std::size_t>(i) * 80 / 30];
      query.push_back({beside.time_s + 0.0625,
                       beside.freq_hz < 2400 ? beside.freq_hz + 1530 : beside.freq_hz - 1530,
                       salience_db});
    }
    const Account account = account_of(query, track);
    EXPECT_NEAR(account.explained_share, 80.0 / 110, 0.03) << salience_db;
    EXPECT_NEAR(account.foreign_per_s, salience_db > 15 ? 3 : 0, 0.3) << salience_db;
    EXPECT_NEAR(account.foreign_db, salience_db, 1e-4);
  }
}

TEST(Account, SongUnderAPitchAndTempoIsAccountedForAsItIs) {
  auto track = track_peaks();
  for (Peak& peak : track) peak.freq_hz *= 0.8F;  // stays in the band
  std::vector<Peak> plain;
  std::vector<Peak> played;
  const Fit fit{0, 1.05, 1.1};
  for (std::size_t i = 0; i < track.size(); ++i) {
    const Peak heard = i % 4 == 0 ? masker_of(track[i]) : track[i];
    plain.push_back(heard);
    played.push_back({heard.time_s / fit.tempo, static_cast<float>(heard.freq_hz * fit.pitch),
                      heard.salience_db});
  }
  const Account of_plain = account_of(plain, track);
  const Account of_played = account_of(played, track, fit);
  EXPECT_NEAR(of_played.explained_share, of_plain.explained_share, 0.1);
  EXPECT_NEAR(of_played.masking, of_plain.masking, 0.3);
  EXPECT_GT(of_played.masking, 0);
}

TEST(Account, ReferenceMadeForANearPitchTellsTheSame) {
  const auto track = track_peaks();
  std::vector<Peak> played = track;
  for (Peak& peak : played) peak.freq_hz *= 1.004F;
  QueryView view;
  view.assign(played, 0, kSeconds);
  const Fit fit{0, 1, 1.004};
  const Account own = account_for(view, points_of(track, fit), fit.pitch, fit);
  const Account near = account_for(view, points_of(track, {}), 1, fit);
  EXPECT_EQ(near.explained_share, own.explained_share);
  EXPECT_EQ(near.foreign_per_s, own.foreign_per_s);
}

TEST(Account, ExpectedPeaksTellWhatIsFoundWhatIsLostAndWhatMayHideTheRest) {
  const auto track = track_peaks();
  std::vector<Peak> query;
  for (std::size_t i = 0; i < track.size(); ++i) {
    query.push_back(i % 4 == 0 ? masker_of(track[i]) : track[i]);
    if (i % 4 != 0) query.back().salience_db -= i < 40 ? 4.0F : 9.0F;  // the second half is fainter
  }
  QueryView view;
  view.assign(query, 0, kSeconds);
  const auto expected = expected_peaks(view, points_of(track, {}), 1, {});
  ASSERT_EQ(expected.size(), track.size());
  constexpr double kStepDb = 0.76;  // half of those that a print keeps salience in
  for (std::size_t i = 0; i < track.size(); ++i) {
    const ExpectedPeak& peak = expected[i];
    EXPECT_NEAR(peak.time_s, track[i].time_s, 0.01);
    EXPECT_NEAR(peak.freq_hz, track[i].freq_hz, 2);
    EXPECT_NEAR(peak.salience_db, 18, kStepDb);
    EXPECT_EQ(peak.found, i % 4 != 0);
    EXPECT_EQ(peak.masker_db, i % 4 == 0 ? 34 : 0);
    const double lost_db = i < 40 ? 4 : 9;
    if (peak.found) {
      EXPECT_NEAR(peak.loss_db, lost_db, kStepDb);
    }
    if (i < 15 || i >= 65) {  // far from the turn
      EXPECT_NEAR(peak.loss_around_db, lost_db, kStepDb);
    }
  }
}

TEST(Account, WithoutTrackOrQueryNothingIsSaid) {
  const auto track = track_peaks();
  for (const Account& account :
       {account_of({}, track), account_of(track, {}), account_of({}, {})}) {
    EXPECT_TRUE(std::isfinite(account.masking));
    EXPECT_EQ(account.explained_share, 0);
  }
  QueryView nothing;
  nothing.assign({}, 0, kSeconds);
  EXPECT_TRUE(expected_peaks(nothing, points_of(track, {}), 1, {}).empty());
}

/// Accounts from hopeless to perfect.
std::vector<Account> accounts() {
  std::vector<Account> made;
  for (const double masking : {-3.0, -1.0, 0.0, 1.0, 2.5}) {
    for (const double share : {0.0, 0.2, 0.5, 0.9})
      made.push_back({masking, share, 12 * (1 - share), 20});
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
  EXPECT_GT(confidence_of(300, {.masking = 1, .explained_share = 0.9}, 10, 1000), 0.999);
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
  EXPECT_GT(fallen, 40U) << "of 80";
}

TEST(Confidence, LongerWindowsNeedAHigherScoreAndMaskedTracksALowerOne) {
  const auto score_for = [](double confidence, const Account& account, double window_s) {
    double score = 0;
    while (score < 1000 && confidence_of(score, account, window_s, 100) < confidence) score += 0.1;
    return score;
  };
  Account account{.masking = 0, .explained_share = 0.5};
  const double asked = score_for(0.999, account, 5);
  EXPECT_TRUE(worth_judging(asked, 100));
  EXPECT_LT(asked, 1000);
  EXPECT_GT(score_for(0.999, account, 10), asked);
  account.masking = 1;
  EXPECT_LT(score_for(0.999, account, 5), asked);
  account.masking = -1;
  EXPECT_GT(score_for(0.999, account, 5), asked);
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
