// tests/unit/fingerprint/batch_extractor_test.cpp - a batch gives what its recordings give alone.
#include "fingerprint/batch_extractor.h"

#include <gtest/gtest.h>

#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

TEST(BatchExtractor, GivesEachRecordingItsOwnPeaksAndLevels) {
  const std::vector<std::vector<float>> recordings = {
      make_music(1, 4.3), {}, make_music(2, 0.1), make_music(3, 7)};
  const std::vector<std::span<const float>> views(recordings.begin(), recordings.end());
  auto device = kernels::Device::cpu();
  const auto all = extract(device, views, Wanted::peaks_and_levels);
  ASSERT_EQ(all.size(), recordings.size());
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    const Extraction alone = extraction_of(recordings[r]);
    ASSERT_EQ(all[r].peaks.size(), alone.peaks.size()) << r;
    for (std::size_t i = 0; i < alone.peaks.size(); ++i) {
      EXPECT_EQ(all[r].peaks[i].time_s, alone.peaks[i].time_s);
      EXPECT_EQ(all[r].peaks[i].freq_hz, alone.peaks[i].freq_hz);
      EXPECT_EQ(all[r].peaks[i].salience_db, alone.peaks[i].salience_db);
    }
    EXPECT_EQ(all[r].levels, alone.levels) << r;
  }
}

TEST(BatchExtractor, LevelsThatNobodyWantsAreNotMade) {
  const auto music = make_music(1, 2);
  const std::span<const float> view(music);
  auto device = kernels::Device::cpu();
  const Extraction heard = extract(device, {&view, 1}, Wanted::peaks).at(0);
  EXPECT_FALSE(heard.peaks.empty());
  EXPECT_EQ(heard.levels.frames(), 0U);
  EXPECT_EQ(heard.heard().levels, nullptr);
}

}  // namespace
}  // namespace spintag::fingerprint
