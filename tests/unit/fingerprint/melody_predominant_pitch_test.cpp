// tests/unit/fingerprint/melody_predominant_pitch_test.cpp - what predominant_pitch.h promises: the
// leading voice of a mix.
#include "fingerprint/melody/predominant_pitch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "fingerprint/melody/recorded_melody.h"

namespace spintag::fingerprint {
namespace {

constexpr int kRateHz = PredominantPitch::kRateHz;
constexpr double kNote_s = 0.4;

double hz_of(double pitch) { return 440 * std::exp2((pitch - 69) / 12); }

/// Adds a tone of six harmonics.
void add_tone(std::vector<float>& samples, double from_s, double length_s, double pitch,
              double amplitude) {
  const auto first = static_cast<std::size_t>(from_s * kRateHz);
  const auto count = static_cast<std::size_t>(length_s * kRateHz);
  for (std::size_t i = 0; i < count && first + i < samples.size(); ++i) {
    const double time_s = static_cast<double>(i) / kRateHz;
    const double fade = std::min({1.0, time_s / 0.01, (length_s - time_s) / 0.02});
    double value = 0;
    for (int h = 1; h <= 6; ++h) {
      value += std::sin(2 * std::numbers::pi * h * hz_of(pitch) * time_s) / h;
    }
    samples[first + i] += static_cast<float>(amplitude * fade * value);
  }
}

void add_noise(std::vector<float>& samples, double from_s, double length_s, double amplitude) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, amplitude);
  const auto first = static_cast<std::size_t>(from_s * kRateHz);
  const auto count = static_cast<std::size_t>(length_s * kRateHz);
  for (std::size_t i = 0; i < count && first + i < samples.size(); ++i) {
    const double decay = std::exp(-static_cast<double>(i) / (0.05 * kRateHz));
    samples[first + i] += static_cast<float>(noise(random) * decay);
  }
}

const std::vector<int> kTune = {69, 71, 73, 74, 76, 74, 73, 71, 69, 76, 81, 80, 78, 76, 74, 73};

/// The tune over a bass and held chords, with a drum a quarter.
std::vector<float> band() {
  std::vector<float> samples(static_cast<std::size_t>(kNote_s * 16 * kRateHz));
  for (std::size_t i = 0; i < kTune.size(); ++i) {
    add_tone(samples, static_cast<double>(i) * kNote_s, kNote_s, kTune[i], 0.2);
    if (i % 4 == 0) {
      const double root = i % 8 == 0 ? 45 : 50;
      add_tone(samples, static_cast<double>(i) * kNote_s, 4 * kNote_s, root, 0.15);
      for (const double third : {12.0, 16.0, 19.0}) {
        add_tone(samples, static_cast<double>(i) * kNote_s, 4 * kNote_s, root + third, 0.04);
      }
    }
    add_noise(samples, static_cast<double>(i) * kNote_s, 0.2, 0.1);
  }
  return samples;
}

double voiced_share(const Contour& contour) {
  const auto voiced = std::ranges::count_if(contour, [](float pitch) { return pitch > 0; });
  return static_cast<double>(voiced) / static_cast<double>(contour.size());
}

TEST(PredominantPitch, LeadingVoiceOfABandIsFollowed) {
  const Contour heard = predominant_pitch(band());
  std::size_t right = 0;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const double time_s = (static_cast<double>(i) + 0.5) / kContourRate;
    const auto note = std::min(kTune.size() - 1, static_cast<std::size_t>(time_s / kNote_s));
    right += std::abs(heard[i] - static_cast<float>(kTune[note])) < 0.5F ? 1 : 0;
  }
  // A frame of the spectrum is half a note long: what lies across two notes may be either.
  EXPECT_GT(static_cast<double>(right) / static_cast<double>(heard.size()), 0.8);
}

TEST(PredominantPitch, ItsNotesAreTheTune) {
  const Melody melody = recorded_melody(predominant_pitch(band()));
  std::vector<long> pitches;
  for (const MelodyNote& note : melody.notes) pitches.push_back(std::lround(note.pitch));
  std::size_t found = 0;
  for (const long pitch : pitches) {
    if (found < kTune.size() && pitch == kTune[found]) ++found;
  }
  EXPECT_GE(found, kTune.size() - 2);           // in order
  EXPECT_LE(pitches.size(), kTune.size() + 3);  // and hardly anything else
}

TEST(PredominantPitch, FrameLiesWhereTheContourSaysItDoes) {
  std::vector<float> samples(static_cast<std::size_t>(4 * kRateHz));
  add_tone(samples, 2, 2, 72, 0.3);
  const Contour heard = predominant_pitch(samples);
  ASSERT_EQ(heard.size(), 125U);  // 4 s
  const auto first = std::ranges::find_if(heard, [](float pitch) { return pitch > 0; });
  const double begins_s = static_cast<double>(first - heard.begin()) / kContourRate;
  EXPECT_NEAR(begins_s, 2, 0.1);  // half a frame of the spectrum
  EXPECT_NEAR(heard[100], 72, 0.1);
}

TEST(PredominantPitch, HowTheInputIsCutChangesNothing) {
  const std::vector<float> samples = band();
  const Contour whole = predominant_pitch(samples);
  PredominantPitch pieces;
  for (std::size_t at = 0, size = 1; at < samples.size(); at += size, size = size * 7 % 1009 + 1) {
    pieces.push(std::span(samples).subspan(at, std::min(size, samples.size() - at)));
  }
  EXPECT_EQ(pieces.finish(), whole);
  pieces.push(samples);  // finish() began anew
  EXPECT_EQ(pieces.finish(), whole);
}

TEST(PredominantPitch, SilenceHasNone) {
  EXPECT_EQ(voiced_share(predominant_pitch(std::vector<float>(3 * kRateHz))), 0);
}

TEST(PredominantPitch, NothingIsAnEmptyContour) {
  EXPECT_TRUE(predominant_pitch({}).empty());
  EXPECT_TRUE(predominant_pitch(std::vector<float>(100, 0.5F)).empty());
}

TEST(PredominantPitch, NoiseHasNone) {
  std::mt19937 random(3);
  std::normal_distribution<float> noise(0, 0.1F);
  std::vector<float> samples(10 * kRateHz);
  for (float& sample : samples) sample = noise(random);
  EXPECT_LT(voiced_share(predominant_pitch(samples)), 0.05);
}

TEST(PredominantPitch, DrumsAloneHaveNone) {
  std::vector<float> samples(10 * kRateHz);
  for (double at_s = 0; at_s < 10; at_s += 0.25) add_noise(samples, at_s, 0.2, 0.3);
  EXPECT_LT(voiced_share(predominant_pitch(samples)), 0.05);
}

}  // namespace
}  // namespace spintag::fingerprint
