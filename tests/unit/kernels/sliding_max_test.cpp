// tests/unit/kernels/sliding_max_test.cpp - the fast sliding maximum against its definition.
#include "kernels/sliding_max.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/kernels/naive_sliding_max.h"
#include "tests/unit/kernels/test_spectrograms.h"

namespace spintag::kernels {
namespace {

std::vector<float> fast(const Spectrogram& in, const Footprint& footprint) {
  Device device = Device::cpu();
  std::vector<float> maxima(in.cells.size(), kNan);
  sliding_max(device, in.view(), footprint, maxima);
  return maxima;
}

struct Case {
  std::string name;
  Footprint footprint;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

std::vector<Case> all_footprints() {
  std::vector<Case> cases;
  for (const std::size_t radius : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 10U, 20U}) {
    const std::string name = std::to_string(radius);
    cases.push_back({"diamond" + name, Footprint::diamond(radius)});
    cases.push_back({"mask_of_diamond" + name, as_mask(Footprint::diamond(radius))});
    cases.push_back({"square" + name, Footprint::box(radius, radius)});
  }
  cases.push_back({"box2x3", Footprint::box(2, 3)});
  cases.push_back({"column", Footprint::box(7, 0)});
  for (std::size_t radius = 1; radius <= 40; radius += 3) {  // every way that windows can grow
    cases.push_back({"row" + std::to_string(radius), Footprint::box(0, radius)});
  }
  unsigned seed = 1;
  for (const auto& [frames, bins] :
       {std::pair{1U, 1U}, {1U, 2U}, {2U, 1U}, {4U, 6U}, {5U, 9U}, {9U, 40U}}) {
    for (const double share : {0.0, 0.3, 0.8}) {
      const std::string name = std::to_string(frames) + "x" + std::to_string(bins) + "_" +
                               std::to_string(static_cast<int>(100 * share));
      cases.push_back({"mask" + name, random_mask(frames, bins, share, ++seed)});
    }
  }
  return cases;
}

class SlidingMaxOf : public testing::TestWithParam<Case> {};

TEST_P(SlidingMaxOf, RandomArraysEqualsTheDefinition) {
  unsigned seed = 100;
  for (const auto& [frames, bins] : {std::pair{60U, 70U}, {37U, 33U}, {64U, 130U}, {130U, 16U}}) {
    for (const float step : {0.0F, 12.0F}) {
      const Spectrogram in = random_spectrogram(frames, bins, ++seed, step);
      EXPECT_EQ(fast(in, GetParam().footprint), naive_sliding_max(in.view(), GetParam().footprint))
          << frames << " x " << bins;
    }
  }
}

TEST_P(SlidingMaxOf, EverySmallShapeEqualsTheDefinition) {
  for (std::size_t frames = 0; frames <= 9; ++frames) {
    for (std::size_t bins = 0; bins <= 9; ++bins) {
      const Spectrogram in =
          random_spectrogram(frames, bins, static_cast<unsigned>(10 * frames + bins));
      ASSERT_EQ(fast(in, GetParam().footprint), naive_sliding_max(in.view(), GetParam().footprint))
          << frames << " x " << bins;
    }
  }
}

TEST_P(SlidingMaxOf, NanTakesNoPart) {
  Spectrogram in = random_spectrogram(30, 30, 5);
  for (std::size_t i = 0; i < in.cells.size(); i += 3) in.cells[i] = kNan;
  in.cells[17] = kInf;
  in.cells[400] = -kInf;
  EXPECT_EQ(fast(in, GetParam().footprint), naive_sliding_max(in.view(), GetParam().footprint));
}

TEST_P(SlidingMaxOf, OneObjectDoesOneSpectrogramAfterAnother) {
  SlidingMax filter(GetParam().footprint, 21);
  for (const std::size_t frames :
       {std::size_t{3}, std::size_t{50}, std::size_t{0}, std::size_t{13}}) {
    const Spectrogram in = random_spectrogram(frames, 21, static_cast<unsigned>(frames));
    std::vector<float> maxima;
    const auto keep = [&maxima](std::span<const float> row) {
      maxima.insert(maxima.end(), row.begin(), row.end());
    };
    for (std::size_t frame = 0; frame < frames; ++frame) {
      filter.push({in.view().frame(frame), 21}, keep);
      const std::size_t late = std::min(frame + 1, filter.look_ahead());
      EXPECT_EQ(maxima.size(), (frame + 1 - late) * 21) << "maxima come as soon as they are known";
    }
    filter.finish(keep);
    EXPECT_EQ(maxima, naive_sliding_max(in.view(), GetParam().footprint));
    filter.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Footprints, SlidingMaxOf, testing::ValuesIn(all_footprints()),
                         [](const auto& instance) { return instance.param.name; });

TEST(NaiveSlidingMax, EqualsAHandWorkedExample) {
  const Spectrogram in{{-1, -2, -3,  //
                        -4, -9, -5,  //
                        -6, -7, -8},
                       3,
                       3};
  EXPECT_EQ(naive_sliding_max(in.view(), Footprint::diamond(1)), (std::vector<float>{-1, -1, -2,  //
                                                                                     -1, -2, -3,  //
                                                                                     -4, -6, -5}));
  EXPECT_EQ(naive_sliding_max(in.view(), Footprint::box(0, 1)), (std::vector<float>{-1, -1, -2,  //
                                                                                    -4, -4, -5,  //
                                                                                    -6, -6, -7}));
  // The cell itself masked; its left neighbour and the one below it (a frame later) belong. Nothing
  // remains of the cell at the lower left.
  EXPECT_EQ(naive_sliding_max(in.view(), Footprint::mask({0, 0, 0, 1, 0, 0, 0, 1, 0}, 3, 3)),
            (std::vector<float>{-4, -1, -2,  //
                                -6, -4, -8,  //
                                -kInf, -6, -7}));
  EXPECT_EQ(naive_sliding_max(in.view(), Footprint::diamond(2))[8], -3);
}

TEST(Footprint, DiamondIsWhatSciPyIterates) {
  // iterate_structure(generate_binary_structure(2, 1), 2)
  const std::vector<std::vector<bool>> expected{{false, false, true, false, false},
                                                {false, true, true, true, false},
                                                {true, true, true, true, true},
                                                {false, true, true, true, false},
                                                {false, false, true, false, false}};
  const Footprint diamond = Footprint::diamond(2);
  ASSERT_EQ(diamond.frames(), 5U);
  ASSERT_EQ(diamond.bins(), 5U);
  for (std::size_t f = 0; f < 5; ++f) {
    for (std::size_t b = 0; b < 5; ++b) EXPECT_EQ(diamond.contains(f, b), expected[f][b]);
  }
}

TEST(Footprint, MaskOfAnotherSizeThanItsCellsIsRefused) {
  EXPECT_THROW(Footprint::mask({}, 0, 0), std::invalid_argument);
  EXPECT_THROW(Footprint::mask({1, 1, 1}, 2, 2), std::invalid_argument);
  EXPECT_THROW(Footprint::mask({1, 1}, 2, 0), std::invalid_argument);
}

TEST(SlidingMax, RoomThatIsTooSmallIsRefused) {
  Device device = Device::cpu();
  const Spectrogram in = random_spectrogram(4, 4, 1);
  std::vector<float> maxima(15);
  EXPECT_THROW(sliding_max(device, in.view(), Footprint::diamond(1), maxima),
               std::invalid_argument);
}

}  // namespace
}  // namespace spintag::kernels
