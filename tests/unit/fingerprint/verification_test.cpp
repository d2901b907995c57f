// tests/unit/fingerprint/verification_test.cpp - the fit, the bound on chance, and what confidence
// makes of them.
#include "fingerprint/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "fingerprint/confidence.h"
#include "fingerprint/landmarks.h"

namespace spintag::fingerprint {
namespace {

double uniform(std::mt19937& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
}

/// Twelve peaks a second for `seconds`.
std::vector<Peak> random_peaks(std::uint32_t seed, double seconds, double per_second) {
  std::mt19937 random(seed);
  std::vector<Peak> peaks(static_cast<std::size_t>(seconds * per_second));
  for (Peak& peak : peaks) {
    peak = {uniform(random, 0, seconds),
            static_cast<float>(std::exp(uniform(random, std::log(220.0), std::log(4800.0)))), 15};
  }
  std::sort(peaks.begin(), peaks.end(),
            [](const Peak& a, const Peak& b) { return a.time_s < b.time_s; });
  return peaks;
}

std::vector<ReferencePoint> points_of(const std::vector<Peak>& peaks) {
  std::vector<ReferencePoint> points;
  for (const Peak& peak : peaks) {
    points.push_back({static_cast<float>(peak.time_s),
                      static_cast<float>(frequency_to_u(peak.freq_hz)), std::log(peak.freq_hz),
                      peak.salience_db});
  }
  return points;
}

/// The reference as heard from `fit.offset_s` on for `seconds`, with jitter, among other peaks.
QueryView heard(const std::vector<Peak>& reference, const Fit& fit, double seconds, double jitter_s,
                double lost, double other_per_s, double probe_pitch = 1) {
  std::mt19937 random(77);
  std::vector<Peak> query = random_peaks(78, seconds, other_per_s);
  for (const Peak& peak : reference) {
    const double t =
        (peak.time_s - fit.offset_s) / fit.tempo + uniform(random, -jitter_s, jitter_s);
    if (uniform(random, 0, 1) < lost || t < 0 || t >= seconds) continue;
    query.push_back({t, static_cast<float>(peak.freq_hz * fit.pitch), peak.salience_db});
  }
  std::sort(query.begin(), query.end(),
            [](const Peak& a, const Peak& b) { return a.time_s < b.time_s; });
  QueryView view;
  view.assign(query, 0, seconds, probe_pitch);
  return view;
}

TEST(Verification, FitFindsOffsetTempoAndPitch) {
  const auto reference = random_peaks(1, 60, 12);
  const Fit truth{20.013, 1.006, 0.997};
  const auto query = heard(reference, truth, 10, 0.004, 0.2, 60);
  const Verdict verdict = verify(query, points_of(reference), {20.0, 1.004, 1.0});
  EXPECT_NEAR(verdict.fit.offset_s, truth.offset_s, 0.003);
  EXPECT_NEAR(verdict.fit.tempo, truth.tempo, 0.0005);
  EXPECT_NEAR(verdict.fit.pitch, truth.pitch, 0.0005);
  EXPECT_NEAR(verdict.found_share, 0.8, 0.1);
  EXPECT_GT(verdict.score, 60);
}

TEST(Verification, FitStaysNearItsHypothesis) {
  const auto reference = random_peaks(2, 60, 12);
  const auto query = heard(reference, {20, 1.03, 1.02}, 10, 0.002, 0, 20);
  const Verdict verdict = verify(query, points_of(reference), {20, 1.0, 1.0});
  EXPECT_LE(std::abs(verdict.fit.tempo - 1), 0.0121);
  EXPECT_LE(std::abs(verdict.fit.pitch - 1), 0.0071);
}

TEST(Verification, SettlingComesWithinReachOfTheFit) {
  const auto reference = random_peaks(3, 60, 12);
  const auto query = heard(reference, {20, 1, 1}, 10, 0.001, 0, 20);
  for (const double off : {-0.04, -0.02, 0.0, 0.02, 0.04}) {
    Fit fit{20 + off, 1, 1};
    EXPECT_GT(settle_offset(query, points_of(reference), fit), 80);
    EXPECT_NEAR(fit.offset_s, 20, 0.0201) << off;  // a step: the ellipse is wider than that
  }
}

TEST(Verification, ScoreIsABoundOnChance) {
  // Random queries against random references: a score of 1 may come in one of ten at most, 2 in one
  // of a hundred. The alignment is not refined, so there is one trial each.
  const auto reference = points_of(random_peaks(4, 4000, 12));
  int trials = 0;
  int over_one = 0;
  int over_two = 0;
  for (std::uint32_t seed = 0; seed < 25; ++seed) {
    QueryView view;
    view.assign(random_peaks(1000 + seed, 10, 100), 0, 10, 1);
    for (double offset = 3; offset < 3900; offset += 40) {
      const double score = verify(view, reference, {offset, 1, 1}, false).score;
      ++trials;
      over_one += score > 1 ? 1 : 0;
      over_two += score > 2 ? 1 : 0;
    }
  }
  EXPECT_GT(trials, 2000);
  EXPECT_LT(over_one, trials / 10);
  EXPECT_LT(over_two, trials / 100);
}

TEST(Verification, NothingInReachIsAnEmptyVerdict) {
  QueryView view;
  view.assign(random_peaks(5, 10, 50), 0, 10, 1);
  const Verdict verdict = verify(view, {}, {0, 1, 1});
  EXPECT_EQ(verdict.expected, 0);
  EXPECT_EQ(verdict.score, 0);
  EXPECT_EQ(verdict.found_share, 0);
}

TEST(Confidence, GrowsWithScoreAndShareAndStaysBelowOne) {
  double previous = -1;
  for (double score = 0; score <= 400; score += 2) {
    const double confidence = confidence_of({.fit = {}, .score = score, .found_share = 0.6}, 5);
    EXPECT_GE(confidence, previous);
    EXPECT_LT(confidence, 1.0);
    previous = confidence;
  }
  EXPECT_EQ(confidence_of({.fit = {}, .score = 100, .found_share = 0.2}, 5), 0);
  EXPECT_LT(confidence_of({.fit = {}, .score = 30, .found_share = 0.37}, 5),
            confidence_of({.fit = {}, .score = 30, .found_share = 0.41}, 5));
}

TEST(Confidence, DefaultThresholdAsksMoreOfALongerWindow) {
  const auto confidence = [](double score, double window) {
    return confidence_of({.fit = {}, .score = score, .found_share = 0.6}, window);
  };
  EXPECT_LT(confidence(17.9, 5), 0.999);
  EXPECT_GT(confidence(18.1, 5), 0.999);
  EXPECT_LT(confidence(35.9, 10), 0.999);
  EXPECT_GT(confidence(36.1, 10), 0.999);
  EXPECT_LT(confidence(17.9, 2),
            0.999);  // a short window is not judged more lightly than one of 5 s
}

TEST(Confidence, MaskedCopyNeedsLessOfTheReference) {
  const Verdict clean{.fit = {}, .score = 60, .found_share = 0.35, .masking_db = 0};
  Verdict masked = clean;
  masked.masking_db = 8;
  EXPECT_LT(confidence_of(clean, 10), 0.9);
  EXPECT_GT(confidence_of(masked, 10), 0.999);
}

}  // namespace
}  // namespace spintag::fingerprint
