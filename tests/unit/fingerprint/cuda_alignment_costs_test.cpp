// tests/unit/fingerprint/cuda_alignment_costs_test.cpp - the judge on a CUDA device gives the
// processor's costs to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "fingerprint/melody/alignment_costs.h"
#include "tests/unit/cuda_test.h"
#include "tests/unit/fingerprint/sung_melodies.h"

namespace spintag::fingerprint {
namespace {

class CudaAlignmentCosts : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    for (unsigned seed = 0; seed < 12; ++seed)
      melodies_.push_back(random_melody(seed, 1 + 9 * seed));
  }
  float in_range(float lowest, float highest) {
    return std::uniform_real_distribution<float>(lowest, highest)(random_);
  }
  /// Every melody from some of its notes, near and far from how it may be sung.
  std::vector<SungMelody> beginnings() {
    std::vector<SungMelody> all;
    for (const Melody& melody : melodies_) {
      for (std::size_t note = 0; note < melody.notes.size(); note += 7) {
        for (int i = 0; i < 3; ++i) {
          all.push_back({&melody, {note, in_range(0.5F, 1.8F), in_range(-4, 4)}});
        }
      }
    }
    return all;
  }
  void expect_the_same(const Contour& hum, const NoteAlignmentParams& params = {}) {
    const auto all = beginnings();
    const auto costs = alignment_costs(cuda_, hum, all, params);
    EXPECT_EQ(costs, alignment_costs(cpu_, hum, all, params, 2)) << hum.size() << " frames";
  }

  std::mt19937 random_{3};
  std::vector<Melody> melodies_;
};

TEST_F(CudaAlignmentCosts, EveryLengthGivesTheSame) {
  const Contour hum = sung(melodies_.back(), {.notes = 60, .wrong_semitones = 0.6F});
  ASSERT_GT(hum.size(), 520U);
  for (const std::size_t frames : {1, 2, 3, 31, 32, 33, 64, 150, 281, 468, 511, 512, 513, 520}) {
    expect_the_same(Contour(hum.begin(), hum.begin() + static_cast<std::ptrdiff_t>(frames)));
  }
}

TEST_F(CudaAlignmentCosts, MistakesAndDriftGiveTheSame) {
  for (const float wrong : {0.0F, 0.5F, 3.0F}) {
    expect_the_same(sung(melodies_.back(), {.from = 9,
                                            .tempo = 0.9F,
                                            .key = -2,
                                            .wrong_semitones = wrong,
                                            .key_drift = 0.05F,
                                            .tempo_drift = 0.01F,
                                            .left_out = 7}));
  }
}

TEST_F(CudaAlignmentCosts, NoiseAndEqualPathsGiveTheSame) {
  Contour noise(300);
  for (float& pitch : noise) pitch = in_range(40, 90);
  expect_the_same(noise);
  expect_the_same(Contour(300, 60));
  expect_the_same(noise, {.beam = 3});
  expect_the_same(noise, {.beam = 1e6F});
}

TEST_F(CudaAlignmentCosts, AHumLongerThanTheKernelTakesIsTheProcessorsWork) {
  expect_the_same(Contour(cuda::kMostAlignedFrames, 61));
  expect_the_same(Contour(cuda::kMostAlignedFrames + 1, 61));
  EXPECT_TRUE(alignment_costs(cuda_, Contour(50, 60), {}).empty());
}

}  // namespace
}  // namespace spintag::fingerprint
