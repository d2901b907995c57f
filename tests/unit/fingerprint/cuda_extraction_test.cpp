// tests/unit/fingerprint/cuda_extraction_test.cpp - peaks from a CUDA device against those from the
// processor.
#include <cmath>
#include <random>

#include "fingerprint/batch_extractor.h"
#include "fingerprint/peak_finder.h"
#include "fingerprint/profile.h"
#include "kernels/stft.h"
#include "tests/unit/cuda_test.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;
using Samples = std::vector<float>;
using Lists = std::vector<std::vector<Peak>>;

constexpr std::size_t kFrame = Profile::frame_samples;

std::vector<std::span<const float>> views(const std::vector<Samples>& arrays) {
  return {arrays.begin(), arrays.end()};
}

Lists peaks_of_all(const std::vector<Extraction>& all) {
  Lists lists;
  for (const Extraction& one : all) lists.push_back(one.peaks);
  return lists;
}

void expect_equal(const Lists& expected, const Lists& lists) {
  ASSERT_EQ(lists.size(), expected.size());
  for (std::size_t r = 0; r < lists.size(); ++r) {
    SCOPED_TRACE(r);
    ASSERT_EQ(lists[r].size(), expected[r].size());
    for (std::size_t i = 0; i < lists[r].size(); ++i) {
      ASSERT_EQ(lists[r][i].time_s, expected[r][i].time_s) << i;
      ASSERT_EQ(lists[r][i].freq_hz, expected[r][i].freq_hz) << i;
      ASSERT_EQ(lists[r][i].salience_db, expected[r][i].salience_db) << i;
    }
  }
}

/// What share of `expected` has a peak of `found` within 1 ms and 1 Hz.
double share_met(const std::vector<Peak>& expected, const std::vector<Peak>& found) {
  std::size_t met = 0;
  auto near = found.begin();
  for (const Peak& peak : expected) {
    while (near != found.end() && near->time_s < peak.time_s - 0.001) ++near;
    for (auto other = near; other != found.end() && other->time_s <= peak.time_s + 0.001; ++other) {
      if (std::abs(other->freq_hz - peak.freq_hz) > 1) continue;
      ++met;
      break;
    }
  }
  return expected.empty() ? 1 : static_cast<double>(met) / static_cast<double>(expected.size());
}

/// Levels of the recordings as the processor takes them.
std::vector<Samples> levels_of(const std::vector<Samples>& recordings) {
  auto cpu = kernels::Device::cpu();
  std::vector<Samples> levels;
  for (const Samples& recording : recordings) {
    const std::span<const float> view(recording);
    levels.push_back(
        kernels::level_spectrogram(cpu,
                                   {.first_bin = static_cast<std::size_t>(BinRange::first),
                                    .bins = static_cast<std::size_t>(BinRange::count)},
                                   Profile::power_offset, {&view, 1}));
  }
  return levels;
}

Samples noise(std::uint32_t seed, double seconds) {
  Samples samples(static_cast<std::size_t>(seconds * kTestRateHz));
  add_noise(samples, seed, 0.1);
  return samples;
}

/// A square wave of so many samples a period: with 64 its harmonics stand still on bin centres, and
/// every frame of one is a peak.
Samples square_wave(std::size_t period, double seconds) {
  Samples samples(static_cast<std::size_t>(seconds * kTestRateHz));
  for (std::size_t n = 0; n < samples.size(); ++n) samples[n] = n % period < period / 2 ? 1 : -1;
  return samples;
}

class CudaExtraction : public CudaTest {
 protected:
  Lists find_on_both(const std::vector<Samples>& levels) {
    const auto wanted = Wanted::peaks_and_levels;
    const auto expected = find_dense_peaks(cpu_, views(levels), wanted);
    const auto found = find_dense_peaks(cuda_, views(levels), wanted);
    expect_equal(peaks_of_all(expected), peaks_of_all(found));
    for (std::size_t r = 0; r < std::min(expected.size(), found.size()); ++r)
      EXPECT_EQ(found[r].levels, expected[r].levels) << r;
    return peaks_of_all(expected);
  }

  void expect_nearly_equal(const std::vector<Samples>& recordings) {
    const Lists expected = peaks_of_all(extract(cpu_, views(recordings), Wanted::peaks));
    const Lists lists = peaks_of_all(extract(cuda_, views(recordings), Wanted::peaks));
    ASSERT_EQ(lists.size(), expected.size());
    for (std::size_t r = 0; r < lists.size(); ++r) {
      SCOPED_TRACE(r);
      const auto count = static_cast<double>(expected[r].size());
      EXPECT_NEAR(static_cast<double>(lists[r].size()), count, 0.005 * count);
      EXPECT_GE(share_met(expected[r], lists[r]), 0.995);
      EXPECT_GE(share_met(lists[r], expected[r]), 0.995);
    }
  }
};

TEST_F(CudaExtraction, NoRecordingsGiveNoLists) {
  EXPECT_TRUE(extract(cuda_, {}, Wanted::peaks_and_levels).empty());
  EXPECT_TRUE(find_dense_peaks(cuda_, {}, Wanted::peaks_and_levels).empty());
}

TEST_F(CudaExtraction, SameLevelsGiveTheSamePeaksToTheBit) {
  const auto lists = find_on_both(
      levels_of({make_music(1, 13.7), noise(2, 9), {}, make_music(3, 1), noise(4, 26.3)}));
  EXPECT_GT(lists[0].size(), 500U);
  EXPECT_GT(lists[1].size(), 1000U);  // over the density limit
}

TEST_F(CudaExtraction, SameLevelsOfAnyNumberOfFramesGiveTheSamePeaks) {
  const Samples all = levels_of({noise(5, 6.1)}).front();
  std::vector<Samples> levels;
  for (const std::size_t frames : {1U,   2U,   3U,   4U,   5U,   6U,   38U,  39U,  40U,  99U, 100U,
                                   101U, 102U, 103U, 104U, 200U, 201U, 202U, 203U, 206U, 254U}) {
    levels.emplace_back(all.begin(),
                        all.begin() + static_cast<std::ptrdiff_t>(frames * BinRange::count));
  }
  find_on_both(levels);
}

/// Levels of a few steps only: box maxima are plateaus, saliences are equal, floors are met
/// exactly.
TEST_F(CudaExtraction, CoarseLevelsGiveTheSamePeaks) {
  std::mt19937 random(17);
  for (const unsigned steps : {2U, 5U, 40U}) {
    SCOPED_TRACE(steps);
    Samples levels(static_cast<std::size_t>(BinRange::count) * 300);
    for (float& level : levels) {
      level = -74.0F + 5.0F * static_cast<float>(random() % steps);
    }
    EXPECT_GT(find_on_both({levels}).front().size(), 100U);
  }
}

TEST_F(CudaExtraction, SteadyTonesGetTheRoomTheyNeed) {
  // A tone in every fourth bin, each frame of it a peak: 220 a frame.
  Samples levels(static_cast<std::size_t>(BinRange::count) * 250, -60.0F);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i % BinRange::count % 4 == 0) levels[i] = -20;
  }
  EXPECT_GT(find_on_both({levels, levels}).front().size(), 5U * 150);
  // Plateaus wider than the box: more than shared memory holds.
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = i % BinRange::count % 40 < 20 ? -60.0F : -20.0F;
  }
  EXPECT_GT(find_on_both({levels}).front().size(), 5U * 150);
}

TEST_F(CudaExtraction, LoudAndSilentLevelsGiveTheSamePeaks) {
  Samples levels = levels_of({noise(7, 8)}).front();
  for (float& level : levels) level -= 300;  // sums of the whitening pass 2^31
  find_on_both({levels});
  for (float& level : levels) level += 600;
  find_on_both({levels});
}

TEST_F(CudaExtraction, MusicGivesNearlyTheSamePeaks) {
  expect_nearly_equal({make_music(11, 61.3), make_music(12, 1), noise(13, 10)});
}

TEST_F(CudaExtraction, ABatchGivesWhatEachRecordingGivesAlone) {
  std::vector<Samples> recordings = {make_music(21, 7),   {},           noise(22, 3.2),
                                     make_music(23, 0.1), noise(24, 1), make_music(25, 23.45),
                                     Samples(kFrame + 1)};
  const Lists together = peaks_of_all(extract(cuda_, views(recordings), Wanted::peaks));
  ASSERT_EQ(together.size(), recordings.size());
  Lists alone;
  for (const Samples& recording : recordings) {
    const std::span<const float> view(recording);
    alone.push_back(extract(cuda_, {&view, 1}, Wanted::peaks).front().peaks);
  }
  expect_equal(alone, together);
}

TEST_F(CudaExtraction, SilenceAndScrapsHoldNoPeaks) {
  const std::vector<Samples> nothing = {
      Samples(5 * 11025), {}, make_music(6, 0.1), Samples(kFrame - 1, 0.5F), Samples(1)};
  for (const auto& list : peaks_of_all(extract(cuda_, views(nothing), Wanted::peaks))) {
    EXPECT_TRUE(list.empty());
  }
}

TEST_F(CudaExtraction, ASquareWaveAtFullScaleHasItsHarmonics) {
  const Lists lists =
      peaks_of_all(extract(cuda_, views({square_wave(64, 8), square_wave(51, 8)}), Wanted::peaks));
  for (const auto& list : lists) EXPECT_GT(list.size(), 8U);
  for (const Peak& peak : lists[0]) {  // odd harmonics of 11,025 / 64 Hz
    const double harmonic = peak.freq_hz * 64 / kTestRateHz;
    if (peak.salience_db > 40) {
      EXPECT_NEAR(std::fmod(harmonic, 2), 1, 0.02);
    }
  }
  find_on_both(levels_of({square_wave(64, 8), square_wave(51, 8)}));
}

TEST_F(CudaExtraction, SecondsBeyondTheFirstHundredAreLaidOutAlike) {
  const Samples second = levels_of({noise(31, 2)}).front();
  Samples levels;  // 130 s: a frame boundary falls on second 128 to the last bit
  for (int i = 0; i < 75; ++i) levels.insert(levels.end(), second.begin(), second.end());
  EXPECT_GT(find_on_both({levels}).front().back().time_s, 129);
}

}  // namespace
}  // namespace spintag::fingerprint
