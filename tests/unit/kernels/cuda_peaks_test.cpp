// tests/unit/kernels/cuda_peaks_test.cpp - the peaks that CUDA finds are those of the processor, to
// the last bit and in the same order.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/peaks.h"
#include "tests/unit/cuda_test.h"
#include "tests/unit/kernels/test_spectrograms.h"

namespace spintag::kernels {
namespace {

class CudaPeaks : public CudaTest {
 protected:
  void expect_twins_agree(const Spectrogram& in, const PeakParams& params,
                          const std::string& what) {
    const std::vector<Peak> expected = find_peaks(cpu_, in.view(), params);
    const std::vector<Peak> found = find_peaks(cuda_, in.view(), params);
    for (std::size_t i = 0; i < std::min(expected.size(), found.size()); ++i) {
      ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(Peak)), 0)
          << what << ": peak " << i << " is at (" << found[i].frame << ", " << found[i].bin
          << ") and should be at (" << expected[i].frame << ", " << expected[i].bin << ") of "
          << in.frames << " x " << in.bins;
    }
    ASSERT_EQ(found.size(), expected.size()) << what << " in " << in.frames << " x " << in.bins;
  }
};

TEST_F(CudaPeaks, RandomArraysEqualTheProcessor) {
  unsigned seed = 1;
  for (std::size_t radius = 0; radius <= 40; ++radius) {
    for (const auto& [frames, bins] : {std::pair{131U, 97U}, {37U, 290U}}) {
      ++seed;
      expect_twins_agree(random_spectrogram(frames, bins, seed),
                         {.footprint = Footprint::diamond(radius), .floor_db = -20},
                         "radius " + std::to_string(radius) + ", seed " + std::to_string(seed));
    }
  }
}

TEST_F(CudaPeaks, LargerRandomArraysEqualTheProcessor) {
  for (const std::size_t radius : {5U, 10U, 20U, 50U}) {
    expect_twins_agree(random_spectrogram(500, 1025, 11),
                       {.footprint = Footprint::diamond(radius), .floor_db = -kInf},
                       "radius " + std::to_string(radius));
  }
}

TEST_F(CudaPeaks, LongRowsEqualTheProcessor) {
  // Longer than what a block hands out at once.
  expect_twins_agree(random_spectrogram(43, 5003, 12),
                     {.footprint = Footprint::diamond(6), .floor_db = -kInf}, "long rows");
}

TEST_F(CudaPeaks, SpectrogramsOfNotesEqualTheProcessor) {
  for (const std::size_t radius : {1U, 4U, 7U, 10U, 15U, 20U, 30U, 60U}) {
    expect_twins_agree(note_spectrogram(300, 513, 5),
                       {.footprint = Footprint::diamond(radius), .floor_db = 10},
                       "radius " + std::to_string(radius));
  }
}

TEST_F(CudaPeaks, PlateausNanAndInfinityEqualTheProcessor) {
  for (const Spectrogram& in : hard_spectrograms()) {
    for (const std::size_t radius : {0U, 1U, 4U, 10U, 14U, 22U, 46U, 1000U}) {
      for (const float floor_db : {-kInf, -30.0F, 0.0F}) {
        expect_twins_agree(in, {.footprint = Footprint::diamond(radius), .floor_db = floor_db},
                           "radius " + std::to_string(radius));
      }
    }
  }
}

TEST_F(CudaPeaks, EveryCellOfAConstantIsAPeak) {
  const Spectrogram in{std::vector<float>(83 * 301, 20), 83, 301};
  for (const std::size_t radius : {3U, 10U, 20U}) {
    const auto peaks =
        find_peaks(cuda_, in.view(), {.footprint = Footprint::diamond(radius), .floor_db = 10});
    ASSERT_EQ(peaks.size(), in.cells.size()) << "more than there was room for at first";
    EXPECT_EQ(peaks[302], (Peak{1, 1, 20}));
  }
}

TEST_F(CudaPeaks, HigherCellsJustOutOfReachEqualTheProcessor) {
  // Rows of 1 just out of the footprint's reach, in tiles that it touches, on a plateau: every cell
  // is in doubt and most are peaks. Here and there 0.5 hides within reach, in the same tiles.
  Spectrogram in{std::vector<float>(48 * 2100, 0), 48, 2100};
  for (std::size_t frame = 0; frame < in.frames; frame += 24) {
    std::fill_n(in.cells.begin() + static_cast<std::ptrdiff_t>(frame * in.bins), in.bins, 1.0F);
    for (std::size_t bin = 50; bin < in.bins; bin += 200) {
      in.cells[(frame + 5) * in.bins + bin] = 0.5F;
    }
  }
  for (const Footprint& footprint : {Footprint::box(10, 14), Footprint::diamond(10)}) {
    expect_twins_agree(in, {.footprint = footprint, .floor_db = -1}, "bands");
  }
}

TEST_F(CudaPeaks, OneHigherCellAnywhereInTheFootprintDecides) {
  // Lone cells of 1, 40 apart, each with a 2 beside it: at every place of the footprint and of the
  // ring around it, each once.
  constexpr std::size_t kApart = 41;
  for (const Footprint& footprint :
       {Footprint::diamond(5), Footprint::diamond(10), Footprint::box(7, 9)}) {
    const std::size_t frames = footprint.frames() + 2;
    const std::size_t bins = footprint.bins() + 2;
    Spectrogram in{std::vector<float>(frames * bins * kApart * kApart), frames * kApart,
                   bins * kApart};
    std::size_t expected = 0;
    for (std::size_t f = 0; f < frames; ++f) {
      for (std::size_t b = 0; b < bins; ++b) {
        const std::size_t frame = f * kApart + kApart / 2;
        const std::size_t bin = b * kApart + kApart / 2;
        in.cells[frame * in.bins + bin] = 1;
        in.cells[(frame + f - frames / 2) * in.bins + bin + b - bins / 2] = 2;
        const bool within = f > 0 && f <= footprint.frames() && b > 0 && b <= footprint.bins() &&
                            footprint.contains(f - 1, b - 1);
        const bool itself = f == frames / 2 && b == bins / 2;
        expected += within || itself ? 1 : 2;
      }
    }
    const PeakParams params{.footprint = footprint, .floor_db = 0.5F};
    expect_twins_agree(in, params, "pairs");
    EXPECT_EQ(find_peaks(cuda_, in.view(), params).size(), expected);
  }
}

TEST_F(CudaPeaks, BoxesAndMasksEqualTheProcessor) {
  const Spectrogram random = random_spectrogram(90, 140, 31, 2);
  const Spectrogram notes = note_spectrogram(90, 140, 32);
  std::vector<Footprint> footprints;
  for (const auto& [frames, bins] : {std::pair{0U, 0U},
                                     {0U, 9U},
                                     {9U, 0U},
                                     {1U, 3U},
                                     {2U, 3U},
                                     {3U, 7U},
                                     {7U, 7U},
                                     {20U, 40U},
                                     {200U, 3U},
                                     {500U, 500U}}) {
    footprints.push_back(Footprint::box(frames, bins));
  }
  unsigned seed = 0;
  for (const auto& [frames, bins] : {std::pair{1U, 2U}, {4U, 6U}, {5U, 5U}, {41U, 70U}}) {
    footprints.push_back(random_mask(frames, bins, 0.6, ++seed));
  }
  footprints.push_back(Footprint::mask({0}, 1, 1));
  for (std::size_t i = 0; i < footprints.size(); ++i) {
    const PeakParams params{.footprint = footprints[i], .floor_db = -25};
    expect_twins_agree(random, params, "footprint " + std::to_string(i));
    expect_twins_agree(notes, params, "footprint " + std::to_string(i));
  }
}

TEST_F(CudaPeaks, EverySmallShapeEqualsTheProcessor) {
  for (const std::size_t radius : {0U, 1U, 5U, 10U, 20U, 50U}) {
    for (std::size_t frames = 0; frames <= 6; ++frames) {
      for (std::size_t bins = 0; bins <= 9; ++bins) {
        expect_twins_agree(random_spectrogram(frames, bins, 7, 10),
                           {.footprint = Footprint::diamond(radius), .floor_db = -kInf},
                           "radius " + std::to_string(radius));
      }
    }
  }
}

TEST_F(CudaPeaks, ManyRowsEqualTheProcessor) {
  // Beyond 32768 rows the groups that a block takes grow.
  expect_twins_agree(random_spectrogram(40'000, 9, 3),
                     {.footprint = Footprint::diamond(10), .floor_db = -kInf}, "many rows");
}

}  // namespace
}  // namespace spintag::kernels
