// tests/unit/daemon/cuda_services_test.cpp - through a real device, callers get what the CPU gives.
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "daemon/extraction_service.h"
#include "daemon/match_service.h"
#include "fingerprint/reference.h"
#include "tests/unit/cuda_test.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::daemon {
namespace {

constexpr std::size_t kSongs = 4;
constexpr double kSongSeconds = 20;

void by_callers(const std::function<void(std::size_t)>& call) {
  std::vector<std::jthread> callers;
  for (std::size_t i = 0; i < kSongs; ++i) callers.emplace_back([&call, i] { call(i); });
}

class CudaServices : public CudaTest {};

TEST_F(CudaServices, CallersGetWhatTheCpuGives) {
  std::vector<std::vector<float>> music;
  std::vector<fingerprint::PackedPeaks> packed;
  std::vector<fingerprint::IndexTrack> tracks;
  for (std::size_t i = 0; i < kSongs; ++i) {
    music.push_back(fingerprint::make_music(static_cast<std::uint32_t>(900 + i), kSongSeconds));
    packed.push_back(fingerprint::make_reference(fingerprint::peaks_of(music.back())));
  }
  for (std::size_t i = 0; i < kSongs; ++i) {
    tracks.push_back({static_cast<std::int64_t>(i + 1), kSongSeconds, packed[i], ""});
  }
  const auto index = fingerprint::Index::build(tracks);
  const auto wanted = fingerprint::Wanted::peaks_and_levels;
  ExtractionService extraction(wanted, open_extract_backend("cuda:0", wanted));
  MatchService matching(1, open_match_backend("cuda:0"));
  matching.load(index);
  ASSERT_TRUE(extraction.on_device());
  ASSERT_EQ(matching.device(), "cuda:0");

  std::vector<fingerprint::Extraction> heard(kSongs);
  by_callers([&](std::size_t i) { heard[i] = extraction.extract(music[i]); });
  std::vector<std::vector<fingerprint::Alignment>> found(kSongs);
  by_callers([&](std::size_t i) { found[i] = matching.match(index, heard[i].heard(), 5, 15); });
  for (std::size_t i = 0; i < kSongs; ++i) {
    const auto by_cpu = fingerprint::Matcher().match(*index, heard[i].heard(), 5, 15);
    ASSERT_EQ(by_cpu.size(), 1U);
    EXPECT_GT(heard[i].levels.frames(), 0U);
    ASSERT_EQ(found[i].size(), 1U);
    EXPECT_EQ(found[i][0].track_id, static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(found[i][0].track_start_s, by_cpu[0].track_start_s);
    EXPECT_EQ(found[i][0].score, by_cpu[0].score);
    EXPECT_EQ(found[i][0].confidence, by_cpu[0].confidence);
  }
  EXPECT_TRUE(extraction.on_device());
  EXPECT_TRUE(matching.on_device());
}

}  // namespace
}  // namespace spintag::daemon
