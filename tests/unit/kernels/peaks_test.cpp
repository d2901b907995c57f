// tests/unit/kernels/peaks_test.cpp - peaks by hand, by definition, and as a stream.
#include "kernels/peaks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/naive_sliding_max.h"

namespace spintag::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<Peak> peaks_of(const Spectrogram& in, const PeakParams& params) {
  Device device = Device::cpu();
  return find_peaks(device, in.view(), params);
}

/// Where the parabola p(-1) = a, p(0) = m, p(1) = b is largest, if that is within half a cell.
float vertex(float a, float m, float b) {
  const float bend = a - 2 * m + b;
  if (!std::isfinite(bend) || bend >= 0) return 0;
  return std::clamp((a - b) / 2 / bend, -0.5F, 0.5F);
}

std::vector<Peak> naive_peaks(const Spectrogram& in, const PeakParams& params) {
  const std::vector<float> maxima = naive_sliding_max(in.view(), params.footprint);
  std::vector<Peak> peaks;
  for (std::uint32_t frame = 0; frame < in.frames; ++frame) {
    for (std::uint32_t bin = 0; bin < in.bins; ++bin) {
      const std::size_t i = frame * in.bins + bin;
      if (in.cells[i] == maxima[i] && in.cells[i] > params.floor_db) {
        const bool inner_frame = frame > 0 && frame + 1 < in.frames;
        const bool inner_bin = bin > 0 && bin + 1 < in.bins;
        peaks.push_back(
            {frame, bin, in.cells[i],
             inner_frame ? vertex(in.cells[i - in.bins], in.cells[i], in.cells[i + in.bins]) : 0,
             inner_bin ? vertex(in.cells[i - 1], in.cells[i], in.cells[i + 1]) : 0});
      }
    }
  }
  return peaks;
}

TEST(Peaks, HandExampleWithEdges) {
  const Spectrogram in{{5, -2, -3, 1,   //
                        -4, -9, 2, -5,  //
                        -6, 3, -8, -7},
                       3,
                       4};
  const PeakParams params{.footprint = Footprint::diamond(1), .floor_db = -kInf};
  // (1, 2): -3, 2, -8 in time, -9, 2, -5 in frequency; (2, 1): -6, 3, -8 in frequency.
  EXPECT_EQ(
      peaks_of(in, params),
      (std::vector<Peak>{
          {0, 0, 5}, {0, 3, 1}, {1, 2, 2, 2.5F / -15, -2.0F / -18}, {2, 1, 3, 0, 1.0F / -20}}));
}

TEST(Peaks, ShiftIsTheVertexOfAParabola) {
  // 7 - 3 (x - 0.25)^2 at -1, 0, 1
  EXPECT_FLOAT_EQ(sub_cell_shift(2.3125F, 6.8125F, 5.3125F), 0.25F);
  EXPECT_FLOAT_EQ(sub_cell_shift(5.3125F, 6.8125F, 2.3125F), -0.25F);
  EXPECT_EQ(sub_cell_shift(1, 1, -1), -0.5F);
  EXPECT_EQ(sub_cell_shift(1, 0, -4), -0.5F) << "never further than half a cell";
}

TEST(Peaks, WithoutCurvatureThereIsNoShift) {
  EXPECT_EQ(sub_cell_shift(1, 1, 1), 0);
  EXPECT_EQ(sub_cell_shift(2, 1, 3), 0);
  for (const float bad : {kNan, kInf, -kInf}) {
    EXPECT_EQ(sub_cell_shift(bad, 1, 0), 0);
    EXPECT_EQ(sub_cell_shift(0, 1, bad), 0);
    EXPECT_EQ(sub_cell_shift(0, bad, 0), 0);
  }
}

TEST(Peaks, PlateauIsAllPeaks) {
  const Spectrogram in{{-30, -7, -7, -30, -30, -30}, 1, 6};
  const PeakParams params{.footprint = Footprint::diamond(1), .floor_db = -20};
  EXPECT_EQ(peaks_of(in, params), (std::vector<Peak>{{0, 1, -7, 0, 0.5F}, {0, 2, -7, 0, -0.5F}}));
}

TEST(Peaks, AllEqualIsAllPeaks) {
  const Spectrogram in{std::vector<float>(50 * 70, -3), 50, 70};
  const std::vector<Peak> peaks =
      peaks_of(in, {.footprint = Footprint::diamond(20), .floor_db = -4});
  ASSERT_EQ(peaks.size(), 50U * 70U);
  EXPECT_EQ(peaks[71], (Peak{1, 1, -3}));
}

TEST(Peaks, FloorItselfIsNoPeak) {
  const Spectrogram in{{10, 0, 0, 10.001F}, 1, 4};
  EXPECT_EQ(peaks_of(in, {.footprint = Footprint::diamond(1), .floor_db = 10}),
            (std::vector<Peak>{{0, 3, 10.001F}}));
}

TEST(Peaks, NanAndNothingAreNoPeaks) {
  const Spectrogram in{{kNan, -kInf, kNan, kInf, -5, kNan}, 1, 6};
  EXPECT_EQ(peaks_of(in, {.footprint = Footprint::diamond(1), .floor_db = -kInf}),
            (std::vector<Peak>{{0, 3, kInf}}));
}

TEST(Peaks, EmptySpectrogramHasNone) {
  EXPECT_TRUE(peaks_of({}, {}).empty());
  EXPECT_TRUE(peaks_of({{}, 7, 0}, {}).empty());
  EXPECT_TRUE(peaks_of({{}, 0, 7}, {}).empty());
}

TEST(Peaks, RandomArraysEqualTheDefinition) {
  unsigned seed = 7;
  for (const std::size_t radius : {1U, 5U, 10U, 20U}) {
    for (const std::size_t bins : {63U, 64U, 129U, 264U}) {  // around the stretches of 64
      for (const float step : {0.0F, 6.0F}) {
        const Spectrogram in = random_spectrogram(40, bins, ++seed, step);
        const PeakParams params{.footprint = Footprint::diamond(radius), .floor_db = -15};
        EXPECT_EQ(peaks_of(in, params), naive_peaks(in, params));
        EXPECT_FALSE(naive_peaks(in, params).empty());
      }
    }
  }
}

TEST(PeakFinder, StreamGivesTheSamePeaksAsSoonAsTheyAreKnown) {
  for (const Footprint& footprint :
       {Footprint::diamond(0), Footprint::diamond(10), Footprint::box(2, 3),
        Footprint::mask({1, 1, 1, 1}, 4, 1), Footprint::mask({1, 1}, 2, 1)}) {
    const PeakParams params{.footprint = footprint, .floor_db = -30};
    PeakFinder finder(params, 90);
    for (const std::size_t frames : {std::size_t{70}, std::size_t{2}, std::size_t{0}}) {
      const Spectrogram in = random_spectrogram(frames, 90, 3, 3);
      const std::vector<Peak> expected = naive_peaks(in, params);
      std::vector<Peak> peaks;
      for (std::size_t frame = 0; frame < frames; ++frame) {
        finder.push({in.view().frame(frame), 90}, peaks);
        std::size_t known = 0;
        const std::size_t late = std::max<std::size_t>(footprint.look_ahead(), 1);
        for (const Peak& peak : expected) known += peak.frame + late <= frame;
        ASSERT_EQ(peaks.size(), known);
      }
      finder.finish(peaks);
      EXPECT_EQ(peaks, expected);
      finder.reset();
    }
  }
}

}  // namespace
}  // namespace spintag::kernels
