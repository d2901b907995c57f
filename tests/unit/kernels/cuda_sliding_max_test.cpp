// tests/unit/kernels/cuda_sliding_max_test.cpp - the sliding maximum on CUDA equals that of the
// processor.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "kernels/sliding_max.h"
#include "tests/unit/cuda_test.h"
#include "tests/unit/kernels/test_spectrograms.h"

namespace spintag::kernels {
namespace {

class CudaSlidingMax : public CudaTest {
 protected:
  std::vector<float> maxima(Device& device, const Spectrogram& in, const Footprint& footprint) {
    std::vector<float> out(in.cells.size(), kNan);
    sliding_max(device, in.view(), footprint, out);
    return out;
  }

  void expect_twins_agree(const Spectrogram& in, const Footprint& footprint,
                          const std::string& what) {
    const std::vector<float> expected = maxima(cpu_, in, footprint);
    const std::vector<float> found = maxima(cuda_, in, footprint);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(found[i], expected[i]) << what << ": cell (" << i / in.bins << ", " << i % in.bins
                                       << ") of " << in.frames << " x " << in.bins;
    }
  }
};

TEST_F(CudaSlidingMax, DiamondsOfEveryRadiusEqualTheProcessor) {
  unsigned seed = 1;
  for (std::size_t radius = 0; radius <= 40; ++radius) {
    for (const auto& [frames, bins] : {std::pair{101U, 67U}, {33U, 290U}}) {
      ++seed;
      expect_twins_agree(random_spectrogram(frames, bins, seed), Footprint::diamond(radius),
                         "radius " + std::to_string(radius) + ", seed " + std::to_string(seed));
    }
  }
}

TEST_F(CudaSlidingMax, DiamondsLargerThanTheArrayEqualTheProcessor) {
  for (const std::size_t radius : {5U, 64U, 70U, 200U, 100'000U}) {
    expect_twins_agree(random_spectrogram(90, 50, 3),
                       Footprint::diamond(std::min<std::size_t>(radius, 300)),
                       "radius " + std::to_string(radius));
  }
  std::vector<float> out(6, kNan);
  const Spectrogram in{{3, 1, 2, 7, 5, 4}, 2, 3};
  sliding_max(cuda_, in.view(), Footprint::diamond(1'000'000'000), out);
  EXPECT_EQ(out, std::vector<float>(6, 7)) << "costs no more than the array";
}

TEST_F(CudaSlidingMax, ManyStripsAndSegmentsEqualTheProcessor) {
  for (const std::size_t radius : {1U, 5U, 10U, 20U, 32U}) {
    expect_twins_agree(random_spectrogram(700, 1025, 11), Footprint::diamond(radius),
                       "radius " + std::to_string(radius));
  }
}

TEST_F(CudaSlidingMax, BoxesEqualTheProcessor) {
  unsigned seed = 100;
  for (const auto& [frames, bins] : {std::pair{0U, 0U},
                                     {0U, 1U},
                                     {1U, 0U},
                                     {2U, 3U},
                                     {5U, 5U},
                                     {20U, 20U},
                                     {3U, 130U},
                                     {64U, 1U},
                                     {500U, 400U}}) {
    for (const auto& [in_frames, in_bins] : {std::pair{101U, 67U}, {40U, 1100U}}) {
      ++seed;
      expect_twins_agree(random_spectrogram(in_frames, in_bins, seed), Footprint::box(frames, bins),
                         "box " + std::to_string(frames) + ", " + std::to_string(bins) + ", seed " +
                             std::to_string(seed));
    }
  }
}

TEST_F(CudaSlidingMax, BoxesWiderThanOnePassEqualTheProcessor) {
  expect_twins_agree(random_spectrogram(3, 9000, 5), Footprint::box(1, 5000), "two passes");
  expect_twins_agree(random_spectrogram(2, 9000, 5), Footprint::box(0, 2000), "one pass");
}

TEST_F(CudaSlidingMax, MasksOfEverySizeEqualTheProcessor) {
  unsigned seed = 200;
  for (const auto& [frames, bins] : {std::pair{1U, 1U},
                                     {1U, 2U},
                                     {2U, 1U},
                                     {4U, 6U},
                                     {5U, 9U},
                                     {31U, 32U},
                                     {40U, 41U},
                                     {3U, 200U},
                                     {130U, 2U},
                                     {70U, 130U}}) {
    for (const double share : {0.0, 0.3, 0.95}) {
      ++seed;
      expect_twins_agree(random_spectrogram(75, 133, seed), random_mask(frames, bins, share, seed),
                         "mask " + std::to_string(frames) + " x " + std::to_string(bins) +
                             ", seed " + std::to_string(seed));
    }
  }
}

TEST_F(CudaSlidingMax, AMaskedDiamondEqualsTheDiamond) {
  const Spectrogram in = random_spectrogram(120, 99, 8);
  for (const std::size_t radius : {0U, 1U, 10U, 33U}) {
    EXPECT_EQ(maxima(cuda_, in, as_mask(Footprint::diamond(radius))),
              maxima(cpu_, in, Footprint::diamond(radius)));
  }
}

TEST_F(CudaSlidingMax, EverySmallShapeEqualsTheProcessor) {
  const std::vector<Footprint> footprints{Footprint::diamond(0), Footprint::diamond(1),
                                          Footprint::diamond(3), Footprint::diamond(20),
                                          Footprint::box(1, 2),  random_mask(4, 3, 0.5, 1)};
  for (const Footprint& footprint : footprints) {
    for (std::size_t frames = 0; frames <= 5; ++frames) {
      for (std::size_t bins = 0; bins <= 5; ++bins) {
        expect_twins_agree(random_spectrogram(frames, bins, 7), footprint, "small");
      }
    }
  }
}

TEST_F(CudaSlidingMax, NanAndInfinityEqualTheProcessor) {
  for (const Spectrogram& in : hard_spectrograms()) {
    for (const std::size_t radius : {0U, 1U, 2U, 7U, 10U, 20U, 40U}) {
      expect_twins_agree(in, Footprint::diamond(radius), "diamond " + std::to_string(radius));
    }
    expect_twins_agree(in, Footprint::box(3, 4), "box");
    expect_twins_agree(in, Footprint::box(0, 0), "box of a cell");
    expect_twins_agree(in, random_mask(6, 7, 0.5, 3), "mask");
  }
}

TEST_F(CudaSlidingMax, RoomThatIsTooSmallIsRefusedAndTheDeviceGoesOn) {
  const Spectrogram in = random_spectrogram(4, 4, 1);
  std::vector<float> out(15);
  EXPECT_THROW(sliding_max(cuda_, in.view(), Footprint::diamond(1), out), std::invalid_argument);
  expect_twins_agree(in, Footprint::diamond(1), "after it");
}

}  // namespace
}  // namespace spintag::kernels
