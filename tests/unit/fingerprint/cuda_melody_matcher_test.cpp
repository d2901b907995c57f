// tests/unit/fingerprint/cuda_melody_matcher_test.cpp - a hum is ranked alike by every device.
#include <gtest/gtest.h>

#include "fingerprint/melody/melody_matcher.h"
#include "tests/unit/cuda_test.h"
#include "tests/unit/fingerprint/sung_melodies.h"

namespace spintag::fingerprint {
namespace {

class CudaMelodyMatcher : public CudaTest {
 protected:
  void add(unsigned first_seed, unsigned count) {
    for (unsigned i = 0; i < count; ++i) index_.add(random_melody(first_seed + i, 20 + 3 * i));
  }
  void expect_the_same(const Contour& hum) {
    const auto matches = matcher_.match(cuda_, hum);
    EXPECT_FALSE(matches.empty());
    EXPECT_EQ(matches, MelodyMatcher(index_).match(cpu_, hum));
  }

  MelodyIndex index_;
  MelodyMatcher matcher_{index_};
};

TEST_F(CudaMelodyMatcher, RanksAsTheProcessorDoes) {
  add(500, 150);
  for (const unsigned which : {20U, 70U, 140U}) {
    expect_the_same(sung(index_.melody(which), {.from = 5, .tempo = 0.8F, .key = 3.3F}));
    expect_the_same(
        sung(index_.melody(which), {.notes = 12, .tempo = 1.4F, .wrong_semitones = 0.7F}));
  }
  const Contour longest(800, 61);  // more than is compared
  expect_the_same(longest);
  expect_the_same(Contour(MelodyMatcher::kShortestHum, 60));
}

TEST_F(CudaMelodyMatcher, FindsMelodiesThatWereAddedAfterACall) {
  add(900, 20);
  expect_the_same(sung(random_melody(2000), {}));
  index_.add(random_melody(2000));
  expect_the_same(sung(random_melody(2000), {}));
  EXPECT_EQ(matcher_.match(cuda_, sung(random_melody(2000), {}))[0].melody, 20U);
}

TEST_F(CudaMelodyMatcher, AMelodyAloneIsFound) {
  index_.add(random_melody(3, 9));
  expect_the_same(sung(index_.melody(0), {.notes = 9}));
}

}  // namespace
}  // namespace spintag::fingerprint
