// tests/unit/fingerprint/verification_test.cpp - the fit and the bound on chance.
#include "fingerprint/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "fingerprint/fit_sums.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/reference.h"

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
                double lost, double other_per_s) {
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
  view.assign(query, 0, seconds);
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
    view.assign(random_peaks(1000 + seed, 10, 100), 0, 10);
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

TEST(Verification, ScoreIsTheLargestBoundOfTheFormula) {
  // The longer window has a product of factors that no double could hold.
  for (const double seconds : {10.0, 60.0}) {
    const auto reference = random_peaks(6, seconds, 60);
    const auto query = heard(reference, {0, 1, 1}, seconds, 0.008, 0.3, 40);
    const auto points = points_of(reference);
    std::vector<Coincidence> coincidences;
    find_coincidences(query, points, 1, {0, 1, 1}, coincidences);
    ASSERT_GT(coincidences.size(), 590U);
    long double largest = 0;
    for (long double s = 0.01L; s < 16; s += 0.01L) {
      const long double moment = std::expm1(s) / s;
      long double bound = 0;
      for (const Coincidence& c : coincidences)
        bound += s * c.weight - std::log(1 + c.chance * (moment - 1));
      largest = std::max(largest, bound / std::log(10.0L));
    }
    const double score = verify(query, points, {0, 1, 1}, false).score;
    EXPECT_NEAR(score / static_cast<double>(largest), 1, 1e-4) << largest;
  }
}

TEST(Verification, FitIsThatOfLeastSquaresInTwoPasses) {
  QueryView view;
  view.assign(random_peaks(7, 10, 30), 0, 10);
  const QueryArrays query = view.arrays();
  std::mt19937 random(8);
  const Fit begin{33, 1.002, 0.99};
  const Fit now{33.01, 1.004, 0.991};
  std::vector<ReferencePoint> points;
  std::vector<verification::Nearest> pairs;
  verification::FitSums sums;
  for (std::uint32_t i = 0; i < query.count; ++i) {
    const QueryPoint& peak = query.points[i];
    const double time = 33.013 + 1.0055 * peak.time_s + uniform(random, -0.01, 0.01);
    points.push_back({static_cast<float>(time), 0, peak.ln_freq + 0.0101F, 0});
    pairs.push_back({uniform(random, 0, 1), i});
    sums.add(query, points[i], now, begin.tempo, pairs[i]);
  }
  long double weight = 0, mean_q = 0, mean_r = 0, ln_pitch = 0, qq = 0, qr = 0;
  for (std::uint32_t i = 0; i < query.count; ++i) {
    const long double w = 1 - pairs[i].distance;
    weight += w;
    mean_q += w * query.points[i].time_s;
    mean_r += w * points[i].time_s;
    ln_pitch += w * (query.points[i].ln_freq - points[i].ln_freq);
  }
  mean_q /= weight;
  mean_r /= weight;
  for (std::uint32_t i = 0; i < query.count; ++i) {
    const long double w = 1 - pairs[i].distance;
    const long double dq = query.points[i].time_s - mean_q;
    qq += w * dq * dq;
    qr += w * dq * (points[i].time_s - mean_r - begin.tempo * dq);
  }
  const auto tempo = static_cast<double>(begin.tempo + qr / (qq + verification::kTempoPrior));
  const Fit fit = verification::refit(sums, view.length_s(), begin, now);
  EXPECT_NEAR(fit.tempo, tempo, 1e-13);
  EXPECT_NEAR(fit.offset_s, static_cast<double>(mean_r - tempo * mean_q), 1e-11);
  EXPECT_NEAR(fit.pitch, static_cast<double>(std::exp(ln_pitch / weight)), 1e-9);
}

TEST(Verification, LooksNoFartherThanReferencePointsReach) {
  const auto track = random_peaks(9, 60, 100);
  const PackedPeaks packed = make_reference(track);
  const Fit nominated{20, 1, 1};
  const auto query = heard(track, {20.04, 1.01, 1}, 10, 0.002, 0, 20);
  const auto whole = reference_points(packed, {0, 1, 1}, 60);
  const auto reach = reference_points(packed, nominated, 10);
  for (const double settled : {-0.04, -0.02, 0.0, 0.02, 0.04}) {
    const Fit fit{nominated.offset_s + settled, 1, 1};
    const Verdict of_whole = verify(query, whole, fit);
    for (const auto& points : {reach, reference_points(packed, fit, 10)}) {
      const Verdict of_reach = verify(query, points, fit);
      EXPECT_EQ(of_whole.fit.offset_s, of_reach.fit.offset_s);
      EXPECT_EQ(of_whole.score, of_reach.score);
      EXPECT_EQ(of_whole.expected, of_reach.expected);
    }
  }
}

TEST(QueryView, CountsAreThoseOfALookAtEveryPoint) {
  std::mt19937 random(10);
  auto peaks = random_peaks(11, 5, 40);
  peaks[3].freq_hz = 4999;  // twice in one place, the first and the last cells
  peaks[4] = peaks[3];
  peaks[5].freq_hz = 1;
  peaks.insert(peaks.begin(), Peak{0, 300, 9});
  for (const float pitch : {1.0F, 2.5F, 0.8F}) {  // moves the points over all cells and beyond
    auto moved = peaks;
    for (Peak& peak : moved) peak.freq_hz *= pitch;
    QueryView view;
    view.assign(moved, 0, 5);
    const QueryArrays query = view.arrays();
    for (int i = 0; i < 2000; ++i) {
      const bool exact = i % 2 == 0;  // at a point or anywhere
      const QueryPoint& at = view.points()[random() % view.points().size()];
      const double time = exact ? at.time_s : uniform(random, -1, 6);
      const double u = exact ? at.u : uniform(random, -10, 2000);
      const auto before = [&](double limit) {
        return std::count_if(view.points().begin(), view.points().end(),
                             [&](const QueryPoint& point) { return point.time_s < limit; });
      };
      ASSERT_EQ(query.first_at(time), before(time)) << time;
      ASSERT_EQ(query.count_near_time(time, 0.05), before(time + 0.05) - before(time - 0.05));
      ASSERT_EQ(query.count_near_u(u, 2),
                std::count_if(view.points().begin(), view.points().end(),
                              [&](const QueryPoint& point) {
                                return point.u >= static_cast<float>(u - 2) &&
                                       point.u <= static_cast<float>(u + 2);
                              }))
          << u;
    }
  }
}

TEST(Verification, NothingInReachIsAnEmptyVerdict) {
  QueryView view;
  view.assign(random_peaks(5, 10, 50), 0, 10);
  const Verdict verdict = verify(view, {}, {0, 1, 1});
  EXPECT_EQ(verdict.expected, 0);
  EXPECT_EQ(verdict.score, 0);
  EXPECT_EQ(verdict.found_share, 0);
}

TEST(Verification, PitchFarFromOneIsVerifiedAtItsOwn) {
  // The same music, once as it is and once a third higher: all that verification makes of it is
  // alike, because the reference moves with the fit.
  auto track = random_peaks(12, 60, 60);
  for (Peak& peak : track) peak.freq_hz = 250 + (peak.freq_hz - 220) * 0.7F;  // in the band at both
  const PackedPeaks packed = make_reference(track);
  const Verdict plain = verify(heard(track, {20.01, 1, 1}, 10, 0.002, 0.2, 40),
                               reference_points(packed, {20, 1, 1}, 10), {20, 1, 1});
  const Fit moved{20, 1, 1.26};
  const auto reference = reference_points(packed, moved, 10);
  const Verdict higher =
      verify(heard(track, {20.01, 1, 1.2612}, 10, 0.002, 0.2, 40), reference, moved);
  EXPECT_NEAR(higher.fit.pitch, 1.2612, 0.0005);
  EXPECT_NEAR(higher.fit.offset_s, 20.01, 0.003);
  EXPECT_NEAR(higher.score / plain.score, 1, 0.1);
  EXPECT_NEAR(higher.found_share, plain.found_share, 0.05);
  Fit settled{20.04, 1, 1.26};
  EXPECT_GT(settle_offset(heard(track, {20, 1, 1.26}, 10, 0.001, 0, 40), reference, settled), 80);
  EXPECT_NEAR(settled.offset_s, 20, 0.0201);
}

TEST(Verification, CoincidencesAreThoseOfTheFitWhateverPitchTheReferenceWasMadeFor) {
  const auto track = random_peaks(13, 60, 12);
  const auto query = heard(track, {20, 1, 1.004}, 10, 0.002, 0.2, 40);
  const PackedPeaks packed = make_reference(track);
  const Fit fit{20, 1, 1.004};
  std::vector<Coincidence> own;
  std::vector<Coincidence> other;
  find_coincidences(query, reference_points(packed, fit, 10), fit.pitch, fit, own);
  find_coincidences(query, reference_points(packed, {20, 1, 1}, 10), 1, fit, other);
  ASSERT_EQ(own.size(), other.size());
  std::ptrdiff_t found = 0;
  std::ptrdiff_t alike = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    found += own[i].weight > 0 ? 1 : 0;
    alike += std::abs(own[i].weight - other[i].weight) < 0.1 ? 1 : 0;
  }
  EXPECT_GT(found, std::ssize(own) * 7 / 10);
  EXPECT_GT(alike, std::ssize(own) * 9 / 10);
}

TEST(Verification, PeaksThatPitchMovesOutOfTheBandAreNotExpected) {
  const std::vector<Peak> track{{1, 210, 20}, {2, 700, 20}, {3, 4700, 20}, {4, 4900, 20}};
  const PackedPeaks packed = make_reference(track);
  const auto freqs_at = [&](double pitch) {
    std::vector<int> freqs;
    for (const ReferencePoint& point : reference_points(packed, {0, 1, pitch}, 10)) {
      const double freq = std::exp(point.ln_freq);
      EXPECT_NEAR(point.u, frequency_to_u(freq * pitch), 0.01);
      for (const Peak& peak : track) {
        if (std::abs(peak.freq_hz - freq) < 2) freqs.push_back(static_cast<int>(peak.freq_hz));
      }
    }
    return freqs;
  };
  EXPECT_EQ(freqs_at(1), (std::vector<int>{210, 700, 4700, 4900}));
  EXPECT_EQ(freqs_at(1.03), (std::vector<int>{210, 700, 4700}));  // 4900 Hz go to 5047 Hz
  EXPECT_EQ(freqs_at(1.1), (std::vector<int>{210, 700}));
  EXPECT_EQ(freqs_at(0.9), (std::vector<int>{700, 4700, 4900}));  // 210 Hz go to 189 Hz
}

}  // namespace
}  // namespace spintag::fingerprint
