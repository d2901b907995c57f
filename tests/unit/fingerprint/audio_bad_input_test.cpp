// tests/unit/fingerprint/audio_bad_input_test.cpp - input that is broken, missing, hostile or
// silent.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "fingerprint/audio/reader.h"
#include "tests/unit/fingerprint/audio_scratch.h"

namespace spintag::fingerprint::audio_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string half_second_wav() {
  return wav_bytes(44100, 1, 0.5, [](int, double t) { return 0.5 * sine(440, t); });
}

TEST(AudioBadInput, SaysWhatIsWrongWithTheFile) {
  const ScratchFolder scratch;
  write_file(scratch / "empty.ogg", "");
  write_file(scratch / "text.mp3", "These are the words of a song, but not its sound.\n");
  write_file(scratch / "header.wav", half_second_wav().substr(0, 44));
  scratch.ffmpeg("-f lavfi -i testsrc=s=64x64:d=1 -c:v mpeg4 video.mkv");
  std::filesystem::create_directory(scratch / "folder");
  const auto says = [&](const char* name, const char* words) {
    EXPECT_THAT(error_of(scratch / name), AllOf(HasSubstr(scratch / name), HasSubstr(words)));
  };
  says("empty.ogg", "is empty");
  says("text.mp3", "audio");
  says("header.wav", "holds no audio that can be decoded");
  says("video.mkv", "has no audio stream");
  says("folder", "is a directory");
  says("missing.ogg", "No such file");
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
}

TEST(AudioBadInput, UnreadableFileIsSaidToBe) {
  const ScratchFolder scratch;
  write_file(scratch / "a.wav", half_second_wav());
  std::filesystem::permissions(scratch.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(scratch / "a.wav", std::filesystem::perms::none);
  const uid_t user = ::geteuid();
  if (user == 0) {
    ASSERT_EQ(::seteuid(65534), 0);  // root may read anything
  }
  const std::string message = error_of(scratch / "a.wav");
  if (user == 0) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_THAT(message, AllOf(HasSubstr("a.wav"), HasSubstr("Permission denied")));
}

TEST(AudioBadInput, OtherSchemesAreRefusedAndTheAllowedOnesNamed) {
  for (const char* source : {"rtmp://host/app", "ftp://host/a.mp3", "concat:a.mp3|b.mp3",
                             "subfile,,start,0,end,9,,:a.mp3", "file:///etc/hostname", "data:,x"}) {
    EXPECT_THAT(error_of(source), AllOf(HasSubstr("not allowed"), HasSubstr("https://"))) << source;
  }
}

TEST(AudioBadInput, ListsInLocalFilesAreNotFollowed) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=1 a.mp3");
  ASSERT_GT(hear(scratch / "a.mp3").seconds(), 0.9) << "what the lists name could be read";
  write_file(scratch / "hls.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:1,\n" +
                                       (scratch / "a.mp3") + "\n#EXT-X-ENDLIST\n");
  write_file(scratch / "concat.txt", "ffconcat version 1.0\nfile a.mp3\n");
  write_file(scratch / "session.sdp",
             "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
             "m=audio 5004 RTP/AVP 0\n");
  write_file(scratch / "plain.m3u", "a.mp3\n");
  for (const char* name : {"hls.m3u8", "concat.txt", "session.sdp"}) {
    EXPECT_THAT(error_of(scratch / name), HasSubstr("list of other sources")) << name;
  }
  EXPECT_THAT(error_of(scratch / "plain.m3u"), HasSubstr("is a playlist"));
}

TEST(AudioBadInput, TruncatedMp3GivesWhatItHas) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=10 -b:a 128k a.mp3");
  const std::string whole = read_file(scratch / "a.mp3");
  write_file(scratch / "cut.mp3", whole.substr(0, whole.size() * 6 / 10));
  const Heard heard = hear(scratch / "cut.mp3");
  EXPECT_NEAR(heard.seconds(), 6, 0.2);
  EXPECT_NEAR(tone_hz(heard, 1, 5), 440, 1);
}

TEST(AudioBadInput, DamagedPacketsAreCountedAndTheRestIsHeard) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=10 a.m4a");
  std::string bytes = read_file(scratch / "a.m4a");
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 1500; ++i) bytes[i] = '\xFF';
  write_file(scratch / "bad.m4a", bytes);
  const Heard heard = hear(scratch / "bad.m4a");
  EXPECT_GE(heard.counts.damaged_packets, 1U);
  EXPECT_GT(heard.seconds(), 9);
  EXPECT_LT(heard.seconds(), 10.1);
  EXPECT_NEAR(tone_hz(heard, 7, 8.5), 440, 2);
}

TEST(AudioBadInput, NumbersThatAreNoneDoNotComeOut) {
  const ScratchFolder scratch;
  scratch.ffmpeg(
      "-f lavfi -i \"aevalsrc='if(gt(t,1),1e30,sqrt(-1))':d=2:s=44100\" -c:a pcm_f32le a.wav");
  const Heard heard = hear(scratch / "a.wav");
  ASSERT_EQ(heard.samples.size(), 22050U);
  for (const float sample : heard.samples) ASSERT_LE(std::abs(sample), 4.0F);
}

TEST(AudioBadInput, LibavPrintsNothing) {
  const ScratchFolder scratch;
  write_file(scratch / "text.mp3", std::string(5000, 'x'));
  testing::internal::CaptureStderr();
  error_of(scratch / "text.mp3");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// Standard input is `path` while this lives.
class StandardInputFrom {
 public:
  explicit StandardInputFrom(const std::string& path) : saved_(::dup(STDIN_FILENO)) {
    const int file = ::open(path.c_str(), O_RDWR);  // a pipe that we hold open never ends
    ::dup2(file, STDIN_FILENO);
    ::close(file);
  }
  ~StandardInputFrom() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  StandardInputFrom(const StandardInputFrom&) = delete;
  StandardInputFrom& operator=(const StandardInputFrom&) = delete;

 private:
  int saved_;
};

TEST(AudioStandardInput, FileAndPipeGiveTheSame) {
  const ScratchFolder scratch;
  write_file(scratch / "a.wav", half_second_wav());
  const Heard direct = hear(scratch / "a.wav");
  {
    const StandardInputFrom input(scratch / "a.wav");
    EXPECT_EQ(hear("-").samples, direct.samples);
  }
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::jthread writer([&] { write_file(scratch / "pipe", half_second_wav()); });
  EXPECT_EQ(hear(scratch / "pipe").samples, direct.samples);
}

TEST(AudioStandardInput, SilentPipeObeysTheDeadline) {
  const ScratchFolder scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  AudioOptions options;
  options.open_deadline = 200ms;
  {
    const StandardInputFrom input(scratch / "pipe");
    EXPECT_THAT(error_of("-", options),
                AllOf(HasSubstr("standard input"), HasSubstr("no audio within 0.200 s")));
  }
  EXPECT_THAT(error_of(scratch / "pipe", options), HasSubstr("no audio within")) << "no writer";
}

TEST(AudioStandardInput, StallingPipeObeysTheReadDeadline) {
  const ScratchFolder scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  const StandardInputFrom input(scratch / "pipe");
  scratch.ffmpeg("-f lavfi -i sine=440:d=2 a.mp3");
  const std::string some = read_file(scratch / "a.mp3").substr(0, 12'000);
  AudioOptions options;
  options.read_deadline = 200ms;
  std::jthread writer([&] { write_file(scratch / "pipe", some); });
  AudioReader reader("-", options);
  std::vector<float> samples;
  EXPECT_THROW(while (reader.read(samples)){}, AudioError);
  EXPECT_THROW(while (reader.read(samples)){}, AudioError) << "still stalled";
}

TEST(AudioStandardInput, StopEndsTheWaitForAPipe) {
  const ScratchFolder scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::stop_source stop;
  AudioOptions options;
  options.open_deadline = 60s;
  options.stop = stop.get_token();
  const auto begin = std::chrono::steady_clock::now();
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_THAT(error_of(scratch / "pipe", options), HasSubstr("stopped"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST(AudioFuzz, TwoHundredDamagedFilesNeitherCrashNorHang) {
  constexpr std::uint32_t kSeed = 20240607;
  constexpr int kCasesPerFormat = 50;
  const ScratchFolder scratch;
  scratch.ffmpeg(
      "-f lavfi -i sine=440:d=1 -ac 2 a.mp3 -ac 2 -c:a libvorbis a.ogg -ac 2 a.flac -ac 2 a.m4a");
  std::mt19937 random(kSeed);
  int heard_something = 0;
  for (const char* name : {"a.mp3", "a.ogg", "a.flac", "a.m4a"}) {
    const std::string good = read_file(scratch / name);
    for (int i = 0; i < kCasesPerFormat; ++i) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(kSeed) + ", case " +
                   std::to_string(i));
      std::string bytes = good;
      const auto flips = 1 + random() % 40;
      const auto span = random() % 2 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 300);
      for (std::uint32_t flip = 0; flip < flips; ++flip) {
        bytes[random() % span] = static_cast<char>(random());
      }
      if (random() % 3 == 0) bytes.resize(1 + random() % bytes.size());
      write_file(scratch / "bad", bytes);
      try {
        const Heard heard = hear(scratch / "bad");
        EXPECT_LT(heard.seconds(), 60);
        ++heard_something;
      } catch (const AudioError& error) {
        EXPECT_THAT(error.what(), HasSubstr(scratch / "bad"));
      }
      try {
        EXPECT_EQ(content_hash(scratch / "bad").size(), 64U);
      } catch (const AudioError&) {
        // As good an answer; what counts is that there is one.
      }
    }
  }
  EXPECT_GT(heard_something, 60) << "damage should cost some audio, not all of it";
}

}  // namespace
}  // namespace spintag::fingerprint::audio_test
