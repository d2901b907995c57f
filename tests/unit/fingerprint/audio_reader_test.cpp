// tests/unit/fingerprint/audio_reader_test.cpp - good files: the right samples at the right time.
#include "fingerprint/audio/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/fingerprint/audio_scratch.h"

namespace spintag::fingerprint::audio_test {
namespace {

/// 300 to 3,300 Hz in 4 s: codecs keep it, and it resembles itself at no other offset.
double sweep(int /*channel*/, double seconds) { return 0.5 * sine(300 + 375 * seconds, seconds); }

/// The lag (in samples of 11,025 Hz, within 60 ms) at which `other` is most like `reference`.
int best_lag(const Heard& reference, const Heard& other) {
  constexpr int kMostLag = 660;
  constexpr std::size_t kFrom = 11025;
  constexpr std::size_t kCount = 22050;
  int best = -kMostLag;
  double most = 0;
  for (int lag = -kMostLag; lag <= kMostLag; ++lag) {
    double sum = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto j = static_cast<std::size_t>(static_cast<int>(kFrom + i) + lag);
      sum += double{reference.samples.at(kFrom + i)} * other.samples.at(j);
    }
    if (sum > most) {
      most = sum;
      best = lag;
    }
  }
  return best;
}

TEST(AudioReader, EveryCodecStandsAtTheSamePlaceWithinTwoMilliseconds) {
  const ScratchFolder scratch;
  write_file(scratch / "a.wav", wav_bytes(44100, 2, 4, sweep));
  scratch.ffmpeg("-i a.wav a.mp3 -c:a libvorbis a.ogg a.flac a.m4a a.opus a.wv");
  const Heard wav = hear(scratch / "a.wav");
  ASSERT_EQ(wav.samples.size(), 44100U);
  for (const char* name : {"a.mp3", "a.ogg", "a.flac", "a.m4a", "a.opus", "a.wv"}) {
    const Heard other = hear(scratch / name);
    EXPECT_LE(std::abs(best_lag(wav, other)), 22) << name;
    EXPECT_NEAR(other.seconds(), 4, 0.025) << name;
    EXPECT_EQ(other.counts.damaged_packets, 0U) << name;
    EXPECT_EQ(other.counts.format_changes, 0U) << name;
  }
}

TEST(AudioReader, FirstSampleStandsAtTimeZero) {
  const ScratchFolder scratch;
  write_file(scratch / "a.wav", wav_bytes(44100, 1, 1, [](int, double t) {
               return t >= 0.5 ? 0.5 * sine(500, t - 0.5) : 0.0;
             }));
  const Heard heard = hear(scratch / "a.wav");
  const auto quarter_wave = static_cast<std::size_t>((0.5 + 0.0005) * 11025);
  EXPECT_NEAR(heard.samples.at(quarter_wave), 0.5, 0.05);
  EXPECT_LT(level(heard, 0.3, 0.49), 0.005);
}

TEST(AudioReader, MixIsTheAverageOfAnyNumberOfChannels) {
  const ScratchFolder scratch;
  for (const int channels : {1, 2, 3, 5, 6, 8, 17}) {
    write_file(scratch / "a.wav", wav_bytes(44100, channels, 0.5, [](int channel, double t) {
                 return channel == 0 ? 0.8 * sine(1000, t) : 0.0;
               }));
    const Heard heard = hear(scratch / "a.wav");
    EXPECT_NEAR(level(heard, 0.1, 0.4) * std::numbers::sqrt2, 0.8 / channels, 0.002) << channels;
  }
}

TEST(AudioReader, FullScaleOnAllChannelsDoesNotClip) {
  const ScratchFolder scratch;
  write_file(scratch / "a.wav",
             wav_bytes(44100, 2, 0.5, [](int, double t) { return sine(1000, t); }));
  const Heard heard = hear(scratch / "a.wav");
  EXPECT_NEAR(level(heard, 0.1, 0.4) * std::numbers::sqrt2, 1, 0.002);
}

TEST(AudioReader, BandIsFlatAndWhatFoldsBackIsGone) {
  const ScratchFolder scratch;
  for (const int rate_hz : {22050, 32000, 44100, 44056, 48000, 96000}) {
    const auto gain_db = [&](double freq_hz) {
      write_file(scratch / "a.wav",
                 wav_bytes(rate_hz, 1, 0.5, [&](int, double t) { return 0.9 * sine(freq_hz, t); }));
      const Heard heard = hear(scratch / "a.wav");
      return 20 * std::log10(level(heard, 0.1, 0.4) * std::numbers::sqrt2 / 0.9 + 1e-9);
    };
    EXPECT_NEAR(gain_db(300), 0, 0.05) << rate_hz;
    EXPECT_NEAR(gain_db(4700), 0, 0.5) << rate_hz;
    EXPECT_LT(gain_db(6100), -60) << rate_hz;  // would be heard at 4,925 Hz
    EXPECT_LT(gain_db(8000), -60) << rate_hz;  // at 3,025 Hz
  }
}

TEST(AudioReader, RateIsWhatIsAskedFor) {
  const ScratchFolder scratch;
  write_file(scratch / "a.wav",
             wav_bytes(48000, 2, 2, [](int, double t) { return 0.5 * sine(440, t); }));
  AudioOptions options;
  options.rate_hz = 44100;
  EXPECT_NEAR(static_cast<double>(hear(scratch / "a.wav", options).samples.size()), 88200, 2);
}

TEST(AudioReader, GivesAtMostASecondAtATimeAndCountsIt) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=5 -c:a libvorbis a.ogg");
  AudioReader reader(scratch / "a.ogg", {});
  EXPECT_NEAR(reader.header_duration_s().value_or(0), 5, 0.01);
  std::vector<float> portion;
  std::size_t sum = 0;
  while (reader.read(portion)) {
    EXPECT_LE(portion.size(), 11025U);
    sum += portion.size();
    EXPECT_EQ(reader.counts().samples, sum);
    portion.clear();
  }
  EXPECT_NEAR(static_cast<double>(sum), 5 * 11025, 60);
  EXPECT_FALSE(reader.read(portion)) << "the end stays the end";
  EXPECT_TRUE(portion.empty());
}

TEST(AudioReader, CoverArtCostsNoPacketAndNoSample) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=2 plain.mp3");
  scratch.ffmpeg("-f lavfi -i color=red:s=600x600:d=0.04 -frames:v 1 cover.png");
  scratch.ffmpeg(
      "-i plain.mp3 -i cover.png -map 0 -map 1 -c copy -disposition:v attached_pic art.mp3");
  const Heard plain = hear(scratch / "plain.mp3");
  const Heard with_art = hear(scratch / "art.mp3");
  EXPECT_EQ(plain.samples, with_art.samples);
  EXPECT_EQ(plain.counts.packets, with_art.counts.packets);
}

TEST(AudioReader, SoundOfAVideoIsRead) {
  const ScratchFolder scratch;
  scratch.ffmpeg(
      "-f lavfi -i testsrc=s=160x120:d=2 -f lavfi -i sine=660:d=2 -c:v mpeg4 -c:a mp3 -shortest "
      "a.mkv");
  const Heard heard = hear(scratch / "a.mkv");
  EXPECT_NEAR(heard.seconds(), 2, 0.1);
  EXPECT_NEAR(tone_hz(heard, 0.5, 1.5), 660, 2);
}

TEST(AudioReader, ColonInAFileNameIsOnlyAName) {
  const ScratchFolder scratch;
  const std::string wav =
      wav_bytes(44100, 1, 0.5, [](int, double t) { return 0.5 * sine(440, t); });
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  for (const char* name : {"12:30 news.wav", "concat:a.wav", "subfile,,start,9.wav", "-.wav"}) {
    write_file(scratch / name, wav);
    EXPECT_NEAR(hear(scratch / name).seconds(), 0.5, 0.01) << name;
    EXPECT_NEAR(hear(name).seconds(), 0.5, 0.01) << name;
  }
  std::filesystem::current_path(before);
}

TEST(AudioReader, MovesInMidFile) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=4 -c:a libvorbis a.ogg");
  const Heard whole = hear(scratch / "a.ogg");
  std::vector<float> samples;
  AudioReader first(scratch / "a.ogg", {});
  first.read(samples);
  AudioReader second(std::move(first));
  second.read(samples);
  first = std::move(second);
  while (first.read(samples)) {
  }
  EXPECT_EQ(samples, whole.samples);
}

TEST(AudioReader, StopEndsAFile) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=4 a.mp3");
  std::stop_source stop;
  AudioOptions options;
  options.stop = stop.get_token();
  AudioReader reader(scratch / "a.mp3", options);
  std::vector<float> samples;
  ASSERT_TRUE(reader.read(samples));
  const std::size_t before = samples.size();
  stop.request_stop();
  EXPECT_FALSE(reader.read(samples));
  EXPECT_EQ(samples.size(), before);
}

struct Change {
  const char* name;
  const char* first;   ///< ffmpeg options of 3 s of 440 Hz
  const char* second;  ///< and of 4 s of 660 Hz
};

class AudioFormatChange : public testing::TestWithParam<Change> {};

TEST_P(AudioFormatChange, IsCountedAndTheClockGoesOn) {
  const Change& change = GetParam();
  const ScratchFolder scratch;
  scratch.ffmpeg(std::string("-f lavfi -i sine=440:d=3 ") + change.first + " 1");
  scratch.ffmpeg(std::string("-f lavfi -i sine=660:d=4 ") + change.second + " 2");
  scratch.shell("cat 1 2 > both");
  const Heard heard = hear(scratch / "both");
  EXPECT_GE(heard.counts.format_changes, 1U);
  EXPECT_NEAR(heard.seconds(), 7, 0.2);
  EXPECT_NEAR(tone_hz(heard, 0.5, 2.5), 440, 2);
  EXPECT_NEAR(tone_hz(heard, 3.5, 6.5), 660, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Chained, AudioFormatChange,
    testing::Values(Change{"mp3", "-ar 44100 -ac 2 -f mp3", "-ar 22050 -ac 1 -f mp3"},
                    Change{"adts", "-ar 44100 -ac 2 -f adts", "-ar 22050 -ac 1 -f adts"},
                    Change{"vorbis", "-ar 44100 -ac 2 -c:a libvorbis -f ogg",
                           "-ar 22050 -ac 1 -c:a libvorbis -f ogg"},
                    Change{"opus", "-ar 48000 -ac 2 -c:a libopus -f ogg",
                           "-ar 48000 -ac 1 -c:a libopus -f ogg"},
                    Change{"ogg_flac", "-ar 44100 -ac 2 -c:a flac -f ogg",
                           "-ar 22050 -ac 1 -c:a flac -f ogg"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(AudioReader, ChainedOggTellsTheNextTitle) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=1 -c:a libvorbis -metadata title=One 1.ogg");
  scratch.ffmpeg(
      "-f lavfi -i sine=440:d=1 -c:a libvorbis -metadata artist=Ann -metadata title=Two 2.ogg");
  scratch.shell("cat 1.ogg 2.ogg > both.ogg");
  EXPECT_EQ(hear(scratch / "both.ogg").titles, std::vector<std::string>{"Ann - Two"});
}

}  // namespace
}  // namespace spintag::fingerprint::audio_test
