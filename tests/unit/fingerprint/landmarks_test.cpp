// tests/unit/fingerprint/landmarks_test.cpp - packing, target zones, hashes and soft bins.
#include "fingerprint/landmarks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fingerprint/profile.h"
#include "fingerprint/reference.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

/// Frequency whose u() is this.
float freq_at(double u) { return static_cast<float>(1000 * std::expm1(u / 600)); }

bool asks(const std::vector<Probe>& probes, std::uint32_t hash) {
  return std::any_of(probes.begin(), probes.end(),
                     [&](const Probe& p) { return hash - p.hash < p.count; });
}

TEST(Reference, PackingKeepsTimeToTwoMillisecondsAndFrequencyToAHertz) {
  const std::vector<Peak> dense = peaks_of(make_music(1, 20));
  const PackedPeaks packed = make_reference(dense);
  const auto peaks = unpack_peaks(packed);
  ASSERT_GT(peaks.size(), 100U);
  EXPECT_EQ(packed.size() % 3, 0U);
  for (const Peak& peak : peaks) {
    EXPECT_TRUE(std::any_of(dense.begin(), dense.end(),
                            [&](const Peak& d) {
                              return std::abs(d.time_s - peak.time_s) <= 0.0021 &&
                                     std::abs(d.freq_hz - peak.freq_hz) <= 0.6;
                            }))
        << peak.time_s << " s " << peak.freq_hz << " Hz";
  }
}

TEST(Reference, KeepsAtMostTwelvePeaksASecondAndNoneBesideAStrongerOne) {
  std::vector<float> noise(static_cast<std::size_t>(10 * kTestRateHz));
  add_noise(noise, 2, 0.1);
  const auto dense = peaks_of(noise);
  const auto peaks = unpack_peaks(make_reference(dense));
  EXPECT_GE(peaks.size(), 10U * 11);
  EXPECT_LE(peaks.size(), 10U * 12);
  for (const Peak& peak : peaks) {
    for (const Peak& other : peaks) {
      if (&peak == &other) continue;
      EXPECT_FALSE(std::abs(peak.time_s - other.time_s) < Profile::thin_s - 0.008 &&
                   std::abs(peak.freq_hz - other.freq_hz) < Profile::thin_hz - 3);
    }
  }
}

TEST(Reference, GapsLongerThanOneDeltaArePacked) {
  const std::vector<Peak> sparse{
      {0.5, 440, 20}, {30.25, 880, 20}, {30.5, 300, 10}, {400.0, 4999, 20}};
  const auto peaks = unpack_peaks(make_reference(sparse));
  ASSERT_EQ(peaks.size(), sparse.size());
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    EXPECT_NEAR(peaks[i].time_s, sparse[i].time_s, 0.0021);
    EXPECT_NEAR(peaks[i].freq_hz, sparse[i].freq_hz, 0.6);
  }
}

TEST(Reference, UnpackingARangeIsThatPartOfTheWhole) {
  const PackedPeaks packed = make_reference(peaks_of(make_music(3, 20)));
  std::vector<Peak> expected;
  for (const Peak& peak : unpack_peaks(packed)) {
    if (peak.time_s >= 5 && peak.time_s < 9.5) expected.push_back(peak);
  }
  const auto part = unpack_peaks(packed, 5, 9.5);
  ASSERT_EQ(part.size(), expected.size());
  ASSERT_FALSE(part.empty());
  EXPECT_EQ(part.front().time_s, expected.front().time_s);
  EXPECT_EQ(part.back().freq_hz, expected.back().freq_hz);
}

TEST(Reference, HalfAPeakIsRefused) {
  PackedPeaks packed = make_reference(peaks_of(make_music(1, 5)));
  packed.pop_back();
  EXPECT_THROW(unpack_peaks(packed), std::invalid_argument);
}

TEST(Landmarks, HashHoldsBothFrequenciesAndTheTimeDifference) {
  // u1 = 500.5, u2 = 450.5, dt = 20.5 units: 500 | 450 - 500 + 256 = 206 | 20.
  const std::vector<Peak> peaks{{1.0, freq_at(500.5), 20},
                                {1.0 + 20.5 * 0.016, freq_at(450.5), 20}};
  std::vector<Landmark> landmarks;
  make_reference_landmarks(peaks, landmarks);
  ASSERT_EQ(landmarks.size(), 1U);
  EXPECT_EQ(landmarks[0].hash, 500U << 16 | 206U << 7 | 20U);
  EXPECT_EQ(landmarks[0].anchor_time_s, 1.0);
}

TEST(Landmarks, AnchorTakesItsTwoStrongestTargets) {
  const std::vector<Peak> peaks{{1.0, freq_at(500.5), 20},
                                {1.2, freq_at(510.5), 9},
                                {1.4, freq_at(520.5), 30},
                                {1.6, freq_at(530.5), 12}};
  std::vector<Landmark> landmarks;
  make_reference_landmarks(peaks, landmarks);
  std::set<std::uint32_t> first;  // du of the first anchor's targets
  for (const Landmark& l : landmarks) {
    if (l.anchor_time_s == 1.0) first.insert((l.hash >> 7 & 511) - 256);
  }
  EXPECT_EQ(first, (std::set<std::uint32_t>{20, 30}));
}

TEST(Landmarks, TargetsOutsideTheZoneMakeNone) {
  const auto pairs_with = [](double time_s, double u) {
    const std::vector<Peak> pair{{1.0, freq_at(500.5), 20}, {time_s, freq_at(u), 9}};
    std::vector<Landmark> landmarks;
    make_reference_landmarks(pair, landmarks);
    std::vector<Probe> probes;
    make_query_probes(pair, 0, {}, {0, 0}, probes);
    EXPECT_EQ(landmarks.size(), probes.size()) << time_s << " s, " << u;  // one zone for both
    return landmarks.size();
  };
  for (const double u : {680.4, 520.5, 504.6, 496.4, 320.6}) {
    EXPECT_EQ(pairs_with(1.06, u), 1U) << u;
    EXPECT_EQ(pairs_with(2.59, u), 1U) << u;
    EXPECT_EQ(pairs_with(1.04, u), 0U) << u;
    EXPECT_EQ(pairs_with(2.61, u), 0U) << u;
  }
  for (const double u : {681.5, 319.5}) EXPECT_EQ(pairs_with(1.5, u), 0U) << u;
  for (const double u : {500.5, 504.4, 496.6}) EXPECT_EQ(pairs_with(1.5, u), 0U) << u;
}

TEST(Landmarks, QueryAsksWhatTheReferenceStored) {
  const auto dense = peaks_of(make_music(4, 10));
  const auto reference = unpack_peaks(make_reference(dense));
  std::vector<Landmark> landmarks;
  make_reference_landmarks(reference, landmarks);
  std::vector<Probe> probes;
  make_query_probes(dense, 0, {}, {}, probes);
  std::size_t met = 0;
  for (const Landmark& l : landmarks) met += asks(probes, l.hash) ? 1 : 0;
  EXPECT_GT(met, landmarks.size() * 98 / 100);
}

TEST(Landmarks, SoftBinsAskTheNeighbourNearABoundaryOnly) {
  const auto hash_of = [](int u1, int u2, int dt) {
    return static_cast<std::uint32_t>(u1 << 16 | (u2 - u1 + 256) << 7 | dt);
  };
  // u1 just over a boundary, u2 and dt in the middle of their bins.
  const std::vector<Peak> peaks{{0.0, freq_at(500.1), 20}, {30.5 * 0.016, freq_at(450.5), 20}};
  std::vector<Probe> probes;
  make_query_probes(peaks, 0, {}, {}, probes);
  EXPECT_TRUE(asks(probes, hash_of(500, 450, 30)));
  EXPECT_TRUE(asks(probes, hash_of(499, 450, 30)));
  EXPECT_FALSE(asks(probes, hash_of(501, 450, 30)));
  EXPECT_FALSE(asks(probes, hash_of(500, 451, 30)));
  EXPECT_FALSE(asks(probes, hash_of(500, 450, 31)));
  EXPECT_EQ(probes.size(), 2U);
  probes.clear();
  make_query_probes(peaks, 0, {}, {0.05, 0.45}, probes);  // harder in frequency, softer in time
  EXPECT_EQ(probes.size(), 1U);
  probes.clear();
  const std::vector<Peak> early{{0.0, freq_at(500.5), 20}, {30.4 * 0.016, freq_at(450.5), 20}};
  make_query_probes(early, 0, {}, {0.05, 0.45}, probes);
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_TRUE(asks(probes, hash_of(500, 450, 29)));
  EXPECT_TRUE(asks(probes, hash_of(500, 450, 30)));
  EXPECT_FALSE(asks(probes, hash_of(500, 450, 31)));
}

TEST(Landmarks, WarpedQueryAsksForTheUnwarpedReference) {
  // Played 4 % fast: shorter by 1.04, higher by 1.04.
  const auto dense = peaks_of(make_music(5, 10));
  std::vector<Landmark> landmarks;
  make_reference_landmarks(unpack_peaks(make_reference(dense)), landmarks);
  std::vector<Peak> fast = dense;
  for (Peak& peak : fast) {
    peak.time_s /= 1.04;
    peak.freq_hz *= 1.04F;
  }
  const auto met = [&](const Hypothesis& hypothesis) {
    std::vector<Probe> probes;
    make_query_probes(fast, 0, hypothesis, {}, probes);
    return std::count_if(landmarks.begin(), landmarks.end(),
                         [&](const Landmark& l) { return asks(probes, l.hash); });
  };
  EXPECT_GT(met({1.04, 1.04}), static_cast<std::ptrdiff_t>(landmarks.size() * 95 / 100));
  EXPECT_LT(met({1.0, 1.0}), static_cast<std::ptrdiff_t>(landmarks.size() / 2));
}

}  // namespace
}  // namespace spintag::fingerprint
