// tests/unit/fingerprint/account_test.cpp - what of a track is missing, what may hide it, and what
// is foreign to it.
#include "fingerprint/account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fingerprint/level_map.h"
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

/// Levels of kSeconds that are the same everywhere.
LevelMap even_levels(float salience_db) {
  LevelMap levels;
  const std::vector<float> row(BinRange::count, salience_db);
  for (int frame = 0; frame * BroadcastProfile::frame_s() < kSeconds; ++frame)
    levels.put(frame, row);
  return levels;
}

/// Of a query that has every peak of the track but each fourth.
Account account_in(const LevelMap* levels) {
  const auto track = track_peaks();
  std::vector<Peak> query;
  for (std::size_t i = 0; i < track.size(); ++i) {
    if (i % 4 != 0) query.push_back(track[i]);
  }
  QueryView view;
  view.assign(query, 0, kSeconds, levels);
  return account_for(view, points_of(track, {}), 1, {});
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

TEST(Account, WhatTheQueryCannotHaveIsNotMissing) {
  const auto track = track_peaks();
  std::vector<Peak> query;
  for (const Peak& peak : track) {
    if (peak.freq_hz < 2500) query.push_back(peak);
  }
  std::vector<Peak> gaps = query;  // the same without some, in the middle of the band
  gaps.erase(std::remove_if(gaps.begin(), gaps.end(),
                            [](const Peak& peak) { return std::abs(peak.freq_hz - 1500) < 500; }),
             gaps.end());
  const double whole = account_of(track, track).masking;
  EXPECT_NEAR(account_of(query, track).masking, whole, 0.1) << "a narrower band";
  EXPECT_LT(account_of(gaps, track).masking, whole - 1) << "a hole in it";
  std::vector<Peak> cut = track;  // the first and the last are less than 80 ms from the ends
  cut.erase(cut.begin());
  cut.pop_back();
  EXPECT_DOUBLE_EQ(account_of(cut, track).masking, whole);
}

TEST(Account, PeaksThatSoundTogetherAreOneMoment) {
  const auto track = track_peaks();
  EXPECT_EQ(account_of(track, track).moments, 80);
  std::vector<Peak> chords;  // four at a time
  for (std::size_t i = 0; i < track.size(); ++i) {
    chords.push_back(track[i]);
    chords.back().time_s = track[i / 4 * 4].time_s + 0.004 * static_cast<double>(i % 4);
  }
  std::sort(chords.begin(), chords.end(), is_earlier);
  const Account account = account_of(chords, chords);
  EXPECT_LE(account.moments, 20);
  EXPECT_GE(account.moments, 15) << "what a reference keeps of chords";
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

TEST(Account, OfAMissingPeakTheDeficitIsWhatTheLevelLacks) {
  EXPECT_FALSE(account_in(nullptr).deficit);
  EXPECT_NEAR(account_in(nullptr).missing_share, 0.25, 0.03);
  const auto all = static_cast<double>(track_peaks().size());
  // Those before the first whole frame of the query and above its band do not count.
  const auto near_quarter = [&](double salience_db, double of_each) {
    const LevelMap levels = even_levels(static_cast<float>(salience_db));
    const double mean_db = std::pow(*account_in(&levels).deficit, 2);
    EXPECT_NEAR(mean_db, 0.25 * of_each, 2 / all * of_each) << salience_db;
  };
  near_quarter(18, 0);  // the track's peaks have 18 dB, and those found lost nothing
  near_quarter(30, 0);
  near_quarter(13, 0);  // as much is usual
  near_quarter(10, 3);
  near_quarter(5, 8);
  near_quarter(-20, 15);  // more is not counted
}

TEST(Account, WhatThePeaksAroundLostTheMissingOneMayHaveLost) {
  const auto track = track_peaks();
  std::vector<Peak> query;
  for (std::size_t i = 0; i < track.size(); ++i) {
    if (i % 4 != 0) query.push_back({track[i].time_s, track[i].freq_hz, 12});
  }
  const LevelMap levels = even_levels(4);
  QueryView view;
  view.assign(query, 0, kSeconds, &levels);
  for (const ExpectedPeak& peak : expected_peaks(view, points_of(track, {}), 1, {})) {
    // Before the centre of the first frame there is no level.
    ASSERT_EQ(peak.deficit_db.has_value(), peak.time_s > 0.1) << peak.time_s;
    if (!peak.deficit_db) continue;
    EXPECT_NEAR(*peak.deficit_db, peak.found ? 0 : 18 - 6 - 4 - 5, 0.5) << peak.time_s;
  }
}

TEST(Account, LevelsThatAreForgottenAreNotTakenForLoud) {
  const LevelMap all = even_levels(-20);
  const double whole = *account_in(&all).deficit;
  for (const double forgotten_s : {0.5, 3.0}) {
    LevelMap part;
    part.reset(forgotten_s);
    const std::vector<float> row(BinRange::count, -20);
    for (int frame = 0; forgotten_s + frame * BroadcastProfile::frame_s() < kSeconds; ++frame)
      part.put(frame, row);
    const auto told = account_in(&part).deficit;
    ASSERT_EQ(told.has_value(), forgotten_s < 1) << forgotten_s;
    if (!told) continue;
    EXPECT_NEAR(*told, whole, 0.1);
  }
}

TEST(Account, LevelsAreOnTheClockOfTheQuery) {
  const auto track = track_peaks();
  LevelMap levels = even_levels(-20);
  levels.reset(100);
  const std::vector<float> loud(BinRange::count, 18);
  for (int frame = 0; frame * BroadcastProfile::frame_s() < kSeconds; ++frame)
    levels.put(frame, loud);
  std::vector<Peak> query;
  for (std::size_t i = 1; i < track.size(); i += 2)
    query.push_back({track[i].time_s + 100, track[i].freq_hz, 18});
  QueryView view;
  view.assign(query, 100, 100 + kSeconds, &levels);
  EXPECT_LT(*account_for(view, points_of(track, {}), 1, {}).deficit, 0.6);
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

}  // namespace
}  // namespace spintag::fingerprint
