// tests/unit/fingerprint/batch_extractor_test.cpp - a batch gives what its recordings give alone.
#include "fingerprint/batch_extractor.h"

#include <gtest/gtest.h>

#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

TEST(BatchExtractor, GivesEachRecordingItsOwnPeaks) {
  const std::vector<std::vector<float>> recordings = {
      make_music(1, 4.3), {}, make_music(2, 0.1), make_music(3, 7)};
  const std::vector<std::span<const float>> views(recordings.begin(), recordings.end());
  auto device = kernels::Device::cpu();
  const auto all = extract_peaks(device, views);
  ASSERT_EQ(all.size(), recordings.size());
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    const auto alone = peaks_of(recordings[r]);
    ASSERT_EQ(all[r].size(), alone.size()) << r;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(all[r][i].time_s, alone[i].time_s);
      EXPECT_EQ(all[r][i].freq_hz, alone[i].freq_hz);
      EXPECT_EQ(all[r][i].salience_db, alone[i].salience_db);
    }
  }
}

}  // namespace
}  // namespace spintag::fingerprint
