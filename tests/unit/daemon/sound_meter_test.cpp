// tests/unit/daemon/sound_meter_test.cpp - tests daemon/sound_meter.h.
#include "daemon/sound_meter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "fingerprint/audio/reader.h"

namespace spintag::daemon {
namespace {

constexpr int kRate = SoundMeter::kRateHz;

std::vector<SoundSecond> measure(const std::vector<float>& samples, std::size_t piece = 4096) {
  SoundMeter meter;
  std::vector<SoundSecond> seconds;
  for (std::size_t at = 0; at < samples.size(); at += piece) {
    meter.push(std::span(samples).subspan(at, std::min(piece, samples.size() - at)), seconds);
  }
  return seconds;
}

std::vector<float> chord(double seconds, double amplitude) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * kRate));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRate;
    double sum = 0;
    for (const double hz : {220.0, 277.2, 329.6}) sum += std::sin(2 * std::numbers::pi * hz * t);
    samples[i] = static_cast<float>(amplitude * sum / 3);
  }
  return samples;
}

int count(const std::vector<SoundSecond>& seconds, Sound sound) {
  return static_cast<int>(std::count_if(seconds.begin(), seconds.end(),
                                        [&](const SoundSecond& s) { return s.sound == sound; }));
}

TEST(SoundMeter, ASineOfFullScaleHasMinusThreeDecibels) {
  std::vector<float> sine(3 * kRate);
  for (std::size_t i = 0; i < sine.size(); ++i) {
    sine[i] =
        static_cast<float>(std::sin(2 * std::numbers::pi * 441 * static_cast<double>(i) / kRate));
  }
  const auto seconds = measure(sine);
  ASSERT_EQ(seconds.size(), 3U);
  for (const SoundSecond& second : seconds) EXPECT_NEAR(second.level_dbfs, -3.01, 0.01);
  EXPECT_DOUBLE_EQ(seconds[2].start_s, 2);
}

TEST(SoundMeter, DeadAirIsSilenceAndAQuietPassageIsNot) {
  EXPECT_EQ(count(measure(std::vector<float>(5 * kRate, 0.0F)), Sound::silence), 5);
  EXPECT_EQ(count(measure(chord(5, 0.001)), Sound::silence), 5);  // -68 dBFS
  EXPECT_EQ(count(measure(chord(5, 0.02)), Sound::silence), 0);   // -42 dBFS
}

TEST(SoundMeter, SilenceIsOverWithTheSecondThatIsLoud) {
  auto samples = chord(3, 0.5);
  samples.resize(6 * kRate, 0.0F);
  const auto loud = chord(3, 0.5);
  samples.insert(samples.end(), loud.begin(), loud.end());
  const auto seconds = measure(samples);
  ASSERT_EQ(seconds.size(), 9U);
  EXPECT_EQ(seconds[3].sound, Sound::silence);
  EXPECT_EQ(seconds[5].sound, Sound::silence);
  EXPECT_NE(seconds[6].sound, Sound::silence);
}

TEST(SoundMeter, AHeldChordIsMusic) {
  const auto seconds = measure(chord(20, 0.5));
  EXPECT_EQ(count(seconds, Sound::music), 20);
}

TEST(SoundMeter, NoiseInSyllablesIsSpeech) {
  std::mt19937 random(5);
  std::normal_distribution<float> noise(0, 0.2F);
  std::vector<float> samples(20 * kRate);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // Four syllables a second, on for 60 % of their time.
    const double phase = std::fmod(4.0 * static_cast<double>(i) / kRate, 1.0);
    samples[i] = noise(random) * (phase < 0.6 ? 1.0F : 0.05F);
  }
  const auto seconds = measure(samples);
  EXPECT_EQ(count(seconds, Sound::speech), 20);
}

TEST(SoundMeter, CuttingTheInputDifferentlyChangesNothing) {
  const auto samples = chord(5, 0.3);
  const auto whole = measure(samples, samples.size());
  for (const std::size_t piece : {1U, 220U, 1000U, 11026U}) {
    const auto cut = measure(samples, piece);
    ASSERT_EQ(cut.size(), whole.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
      EXPECT_EQ(cut[i].level_dbfs, whole[i].level_dbfs);
      EXPECT_EQ(cut[i].sound, whole[i].sound);
    }
  }
}

TEST(SoundMeter, ASpeakingVoiceIsSpeech) {
  std::string folder = (std::filesystem::temp_directory_path() / "spintag-voice-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string wav = folder + "/voice.wav";
  const std::string command =
      "espeak-ng -v en -w " + wav +
      " 'Good morning, this is the news at eight. The council met last night and talked about the "
      "bridge, the school, and the price of water. It decided nothing. More rain is on its way "
      "from "
      "the west, and the roads along the river will be closed until the weekend.' 2>/dev/null";
  if (std::system(command.c_str()) != 0) {
    std::filesystem::remove_all(folder);
    GTEST_SKIP() << "espeak-ng is not installed";
  }
  std::vector<float> samples;
  fingerprint::AudioReader reader(wav, {});
  while (reader.read(samples)) {
  }
  std::filesystem::remove_all(folder);
  const auto seconds = measure(samples);
  ASSERT_GE(seconds.size(), 10U);
  EXPECT_GE(count(seconds, Sound::speech), static_cast<int>(seconds.size()) - 3);
}

}  // namespace
}  // namespace spintag::daemon
