// tests/unit/daemon/programme_test.cpp - tests daemon/demo/programme.h.
#include "daemon/demo/programme.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "fingerprint/audio/reader.h"

namespace spintag::daemon {
namespace {

constexpr int kRate_hz = 8000;

/// WAV files of one tone each, in a folder that goes away.
class ProgrammeTest : public testing::Test {
 protected:
  ProgrammeTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("programme_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    params_.rate_hz = kRate_hz;
    params_.opening_s = 1;
    params_.song_s = 4;
    params_.fade_s = 1;
    params_.skip_share = 0;
    params_.talk_lead_s = 0;
  }
  ~ProgrammeTest() override { std::filesystem::remove_all(folder_); }

  Song tone(const std::string& name, double freq_hz, double seconds) {
    const auto samples = static_cast<std::uint32_t>(seconds * kRate_hz);
    const auto file = folder_ / (name + ".wav");
    std::ofstream out(file, std::ios::binary);
    const auto put = [&out](auto value) {
      out.write(reinterpret_cast<const char*>(&value), sizeof value);  // little-endian hosts
    };
    out << "RIFF";
    put(std::uint32_t{36 + 2 * samples});
    out << "WAVEfmt ";
    put(std::uint32_t{16});
    put(std::uint16_t{1});
    put(std::uint16_t{1});
    put(std::uint32_t{kRate_hz});
    put(std::uint32_t{2 * kRate_hz});
    put(std::uint16_t{2});
    put(std::uint16_t{16});
    out << "data";
    put(std::uint32_t{2 * samples});
    for (std::uint32_t i = 0; i < samples; ++i) {
      put(static_cast<std::int16_t>(8000 *
                                    std::sin(2 * std::numbers::pi * freq_hz * i / kRate_hz)));
    }
    return {1, file.string(), name, "", seconds};
  }

  static std::vector<float> silence(const Song*, const Song&) { return {}; }

  static double rms(std::span<const float> samples) {
    double sum = 0;
    for (const float sample : samples) sum += static_cast<double>(sample) * sample;
    return std::sqrt(sum / static_cast<double>(samples.size()));
  }

  /// Programme seconds [from_s, to_s) of what was mixed.
  static std::span<const float> part(const std::vector<float>& mixed, double from_s, double to_s) {
    return std::span(mixed).subspan(static_cast<std::size_t>(from_s * kRate_hz),
                                    static_cast<std::size_t>((to_s - from_s) * kRate_hz));
  }

  std::filesystem::path folder_;
  ProgrammeParams params_;
};

TEST_F(ProgrammeTest, SongsFollowByTheirLengthLessTheFade) {
  Programme programme({tone("a", 500, 10), tone("b", 700, 3)}, params_, silence);
  std::vector<float> mixed(10 * kRate_hz);
  programme.mix(mixed);
  // The opening lasts 1 s; "a" is heard for 4 s, "b" whole (3 s); each follower comes 1 s before
  // the end.
  const auto& starts = programme.starts();
  ASSERT_EQ(starts.size(), 4U);
  const double expected_s[] = {1, 4, 6, 9};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(static_cast<double>(starts[i].sample) / kRate_hz, expected_s[i], 0.01) << i;
    EXPECT_EQ(starts[i].song, i % 2);
  }
  EXPECT_NEAR(starts[1].heard_s, 3, 0.01);
  EXPECT_EQ(rms(part(mixed, 0, 1)), 0);
  EXPECT_NEAR(rms(part(mixed, 2.2, 3.8)), params_.level, 0.15 * params_.level);
}

TEST_F(ProgrammeTest, CuttingTheOutputDifferentlyChangesNothing) {
  const std::vector<Song> songs = {tone("a", 500, 5), tone("b", 700, 5)};
  const auto announcer = [](const Song*, const Song&) { return std::vector<float>(500, 0.25F); };
  Programme whole(songs, params_, announcer);
  std::vector<float> at_once(6 * kRate_hz);
  whole.mix(at_once);
  Programme cut(songs, params_, announcer);
  std::vector<float> pieces(at_once.size());
  for (std::size_t from = 0, size = 1; from < pieces.size(); from += size, size = size * 3 % 977) {
    size = std::min(size, pieces.size() - from);
    cut.mix(std::span(pieces).subspan(from, size));
  }
  EXPECT_EQ(at_once, pieces);
}

TEST_F(ProgrammeTest, TheMusicIsDuckedWhileTheAnnouncerTalks) {
  // Words of silence: what is left to hear is the music behind them.
  params_.fade_s = 0.2;
  const auto announcer = [](const Song*, const Song&) {
    return std::vector<float>(static_cast<std::size_t>(1.0 * kRate_hz), 0.0F);
  };
  Programme programme({tone("a", 500, 10)}, params_, announcer);
  std::vector<float> mixed(4 * kRate_hz);
  programme.mix(mixed);
  const double loud = rms(part(mixed, 2.5, 3.9));
  EXPECT_NEAR(rms(part(mixed, 1.3, 1.9)) / loud, params_.duck_gain, 0.02);
}

TEST_F(ProgrammeTest, ASongThatCannotBeDecodedIsAnError) {
  const auto file = folder_ / "words.mp3";
  std::ofstream(file) << "these are words";
  EXPECT_THROW(Programme({{1, file.string(), "words", "", 10}}, params_, silence),
               fingerprint::AudioError);
}

}  // namespace
}  // namespace spintag::daemon
