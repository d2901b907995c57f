// tests/unit/fingerprint/melody_pitch_track_test.cpp - the pitch of sounds whose pitch is known.
#include "fingerprint/melody/pitch_track.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

namespace spintag::fingerprint {
namespace {

using PitchAt = std::function<double(double time_s)>;

/// A voice: eight harmonics that fall by 6 dB an octave.
std::vector<float> voice(double seconds, int rate_hz, const PitchAt& pitch_at) {
  std::vector<float> samples;
  double phase = 0;
  const auto count = static_cast<std::size_t>(seconds * rate_hz);
  for (std::size_t i = 0; i < count; ++i) {
    const double hz = 440 * std::exp2((pitch_at(static_cast<double>(i) / rate_hz) - 69) / 12);
    phase += 2 * std::numbers::pi * hz / rate_hz;
    double sample = 0;
    for (int harmonic = 1; harmonic <= 8 && harmonic * hz < rate_hz / 2.2; ++harmonic) {
      sample += std::sin(harmonic * phase) / harmonic;
    }
    samples.push_back(static_cast<float>(0.2 * sample));
  }
  return samples;
}

void add_noise(std::vector<float>& samples, double level) {
  std::mt19937 random(11);
  std::normal_distribution<float> noise(0, static_cast<float>(level));
  for (float& sample : samples) sample += noise(random);
}

/// Share of the frames within half a semitone of the pitch, the first and last two left out.
double right_share(const Contour& contour, const PitchAt& pitch_at) {
  int right = 0;
  for (std::size_t i = 2; i + 2 < contour.size(); ++i) {
    const double expected = pitch_at((static_cast<double>(i) + 0.5) / kContourRate);
    if (std::abs(contour[i] - expected) < 0.5) ++right;
  }
  return right / static_cast<double>(contour.size() - 4);
}

class PitchTrackAt : public testing::TestWithParam<int> {};

TEST_P(PitchTrackAt, SteadyTonesAreWithinTwelveCents) {
  for (const double pitch : {38.0, 45.3, 57.0, 69.25, 81.0}) {
    const auto contour =
        track_pitch(voice(1, GetParam(), [&](double) { return pitch; }), GetParam());
    ASSERT_EQ(contour.size(), 31U);
    for (std::size_t i = 2; i + 2 < contour.size(); ++i) EXPECT_NEAR(contour[i], pitch, 0.12) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, PitchTrackAt,
                         testing::Values(8000, 11025, 16000, 22050, 44100, 48000));

TEST(PitchTrack, FollowsVibrato) {
  const auto pitch = [](double t) { return 60 + 0.6 * std::sin(2 * std::numbers::pi * 5.5 * t); };
  const auto contour = track_pitch(voice(2, 8000, pitch), 8000);
  for (std::size_t i = 2; i + 2 < contour.size(); ++i) {
    EXPECT_NEAR(contour[i], pitch((static_cast<double>(i) + 0.5) / kContourRate), 0.35) << i;
  }
}

TEST(PitchTrack, FollowsNotesThatLeapAnOctave) {
  const auto pitch = [](double t) { return std::fmod(t, 0.4) < 0.2 ? 55.0 : 67.0; };
  EXPECT_GT(right_share(track_pitch(voice(3, 16000, pitch), 16000), pitch), 0.85);
}

TEST(PitchTrack, HearsAVoiceInNoiseOfATwentiethOfItsPower) {
  const auto pitch = [](double t) { return 52 + 2 * std::floor(t / 0.3); };
  auto samples = voice(3, 8000, pitch);
  add_noise(samples, 0.2 * std::sqrt(0.5 * 1.5 / 20));
  EXPECT_GT(right_share(track_pitch(samples, 8000), pitch), 0.85);
}

TEST(PitchTrack, SilenceAndNoiseHaveNoPitch) {
  for (const float pitch : track_pitch(std::vector<float>(16000), 8000)) EXPECT_EQ(pitch, 0);
  std::vector<float> noise(16000);
  add_noise(noise, 0.1);
  int voiced = 0;
  for (const float pitch : track_pitch(noise, 8000)) voiced += pitch > 0 ? 1 : 0;
  EXPECT_LT(voiced, 6);  // of 62
}

TEST(PitchTrack, SilenceBetweenNotesIsUnvoiced) {
  auto samples = voice(0.5, 8000, [](double) { return 60; });
  samples.resize(samples.size() + 4000);
  const auto more = voice(0.5, 8000, [](double) { return 64; });
  samples.insert(samples.end(), more.begin(), more.end());
  const auto contour = track_pitch(samples, 8000);
  EXPECT_NEAR(contour[7], 60, 0.05);
  EXPECT_EQ(contour[23], 0);
  EXPECT_NEAR(contour[40], 64, 0.05);
}

TEST(PitchTrack, ShortOrEmptyInputGivesAsManyFramesAsItLasts) {
  EXPECT_TRUE(track_pitch({}, 8000).empty());
  EXPECT_TRUE(track_pitch(std::vector<float>(255), 8000).empty());
  EXPECT_EQ(track_pitch(std::vector<float>(256), 8000).size(), 1U);
}

TEST(PitchTrack, RefusesOtherRates) {
  const std::vector<float> samples(100);
  EXPECT_THROW(track_pitch(samples, 7999), std::invalid_argument);
  EXPECT_THROW(track_pitch(samples, 48001), std::invalid_argument);
}

}  // namespace
}  // namespace spintag::fingerprint
