// tests/unit/daemon/candidates_test.cpp - tests daemon/candidates.h.
#include "daemon/candidates.h"

#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

using fingerprint::Alignment;

/// A window of track 7, whose clock runs with the stream's from `zero_s` on.
Alignment window(double start_s, double end_s, double confidence, double zero_s = 0) {
  Alignment found;
  found.track_id = 7;
  found.start_s = start_s;
  found.end_s = end_s;
  found.track_start_s = start_s - zero_s;
  found.confidence = confidence;
  return found;
}

TEST(Candidates, NinesCountTheNinesOfAConfidence) {
  EXPECT_NEAR(nines_of(0), 0, 1e-9);
  EXPECT_NEAR(nines_of(0.9), 1, 1e-9);
  EXPECT_NEAR(nines_of(0.99999), 5, 1e-9);
  EXPECT_LT(nines_of(1), 17) << "nothing is certain";
}

TEST(Candidates, WindowsThatDoNotOverlapAddUp) {
  Candidates candidates;
  candidates.add(window(0, 3, 0.999));
  candidates.add(window(3, 6, 0.9999));
  EXPECT_NEAR(candidates.add(window(6, 9, 0.99)).nines(), 3 + 4 + 2, 1e-6);
}

TEST(Candidates, WindowsThatOverlapCountOnceAsTheSurest) {
  Candidates candidates;
  candidates.add(window(0, 3, 0.999));
  candidates.add(window(1, 4, 0.99999));
  EXPECT_NEAR(candidates.add(window(2, 5, 0.9999)).nines(), 5, 1e-6);
  EXPECT_NEAR(candidates.add(window(3, 6, 0.999)).nines(), 5 + 3, 1e-6);
  EXPECT_EQ(candidates.all()[0].best().end_s, 4);
}

TEST(Candidates, AnotherPlaceOfTheTrackIsAnotherCandidate) {
  Candidates candidates;
  candidates.add(window(0, 3, 0.999));
  EXPECT_NEAR(candidates.add(window(3, 6, 0.999, 0.5)).nines(), 3, 1e-6);
  EXPECT_EQ(candidates.all().size(), 2U);
  candidates.add(window(3, 6, 0.999, 0.1));
  EXPECT_EQ(candidates.all().size(), 2U) << "a tenth of a second is no other place";
  candidates.erase(7);
  EXPECT_TRUE(candidates.empty());
}

TEST(Candidates, WhatIsNotNamedAgainIsForgotten) {
  Candidates candidates({.forget_after_s = 8});
  candidates.add(window(0, 3, 0.999));
  candidates.forget(11);
  EXPECT_FALSE(candidates.empty());
  candidates.forget(11.5);
  EXPECT_TRUE(candidates.empty());
}

}  // namespace
}  // namespace spintag::daemon
