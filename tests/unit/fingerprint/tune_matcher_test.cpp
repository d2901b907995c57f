// tests/unit/fingerprint/tune_matcher_test.cpp - what pitch_classes.h, tune_index.h, tune_matcher.h
// and melody_confidence.h promise.
#include "fingerprint/melody/tune_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stop_token>
#include <vector>

#include "fingerprint/melody/melody_confidence.h"
#include "fingerprint/melody/pitch_classes.h"

namespace spintag::fingerprint {
namespace {

Melody made_tune(unsigned seed, double length_s = 60) {
  std::mt19937 random(seed);
  constexpr int kScale[] = {0, 2, 4, 5, 7, 9, 11};
  Melody melody;
  int degree = 7;
  for (double at_s = 0; at_s < length_s;) {
    degree = std::clamp(degree + static_cast<int>(random() % 7) - 3, 0, 14);
    const double beats = random() % 3 == 0 ? 2 : 1;
    melody.notes.push_back({static_cast<float>(at_s), static_cast<float>(0.3 * beats),
                            static_cast<float>(60 + kScale[degree % 7] + 12 * (degree / 7))});
    at_s += 0.3 * beats;
  }
  return melody;
}

/// As a band plays it: from a place, in another key and tempo, with some notes of its own and an
/// octave wrong here and there.
Contour played(const Melody& melody, double from_s, double length_s, double tempo, double key,
               double wrong, unsigned seed) {
  std::mt19937 random(seed);
  const Contour written = contour_of(melody);
  std::vector<float> shift(melody.notes.size());
  for (float& one : shift) {
    const double draw = static_cast<double>(random()) / 4294967296.0;
    if (draw < wrong) one = static_cast<float>(random() % 9) - 4;
    if (draw > 0.8) one = 12;
  }
  Contour contour;
  std::size_t note = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(length_s * kContourRate); ++i) {
    const double at_s = from_s + (static_cast<double>(i) + 0.5) / kContourRate * tempo;
    const auto frame = static_cast<std::size_t>(at_s * kContourRate);
    while (note + 1 < melody.notes.size() && melody.notes[note + 1].onset_s <= at_s) ++note;
    contour.push_back(written[std::min(frame, written.size() - 1)] + static_cast<float>(key) +
                      shift[note]);
  }
  return contour;
}

TuneIndex index_of(unsigned first_seed, unsigned count) {
  TuneIndex index;
  for (unsigned i = 0; i < count; ++i) index.add(made_tune(first_seed + i));
  return index;
}

TEST(PitchClasses, AreTheMostFrequentOfEachStepAfterTheTuning) {
  // 8 frames: C, a quarter tone sharp everywhere; then one D of four, then rests.
  Contour contour = {60.25F, 60.25F, 60.25F, 60.25F, 62.25F, 72.25F, 48.25F, 60.25F,
                     0,      0,      0,      60.25F, 0,      0,      0};
  EXPECT_NEAR(tuning_of(contour), 0.25, 1e-6);
  EXPECT_EQ(pitch_classes(contour, 0.25F, 4), (std::vector<PitchClass>{0, 0, kNoClass}));
  EXPECT_EQ(pitch_classes(contour, 0.25F, 7.5), (std::vector<PitchClass>{0, kNoClass}));
}

TEST(PitchClasses, OfNothingAreNone) {
  EXPECT_EQ(tuning_of({}), 0);
  EXPECT_TRUE(pitch_classes(Contour{}, 0, 4).empty());
  EXPECT_TRUE(pitch_classes(Contour{60, 60, 60}, 0, 4).empty());
}

TEST(TuneMatcher, FindsTuneInAnotherKeyAndTempoWithPlaceKeyAndTempo) {
  const TuneIndex index = index_of(1, 30);
  const TuneMatcher matcher(index);
  for (const double tempo : {0.8, 1.0, 1.25}) {
    for (const int key : {-5, 0, 3, 6}) {
      const auto answer = matcher.match(played(made_tune(12), 15, 24, tempo, key, 0.3, 5));
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->best.melody, 11U);
      EXPECT_NEAR(answer->best.start_s, 15, 1);
      EXPECT_NEAR(answer->best.tempo, tempo, 0.03 * tempo);
      EXPECT_EQ(answer->best.key, key);
      EXPECT_EQ(answer->melodies, 30U);
      EXPECT_GT(answer->best.agreement + answer->best.changes, answer->second);
    }
  }
}

TEST(TuneMatcher, KeyNeedNotBeAWholeSemitone) {
  const TuneIndex index = index_of(1, 10);
  const auto answer = TuneMatcher(index).match(played(made_tune(3), 5, 24, 1.1, 2.4, 0.1, 6));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->best.melody, 2U);
  EXPECT_GT(answer->best.agreement, 0.7F);
}

TEST(TuneMatcher, IsSurerOfAKnownTuneThanOfAnUnknownOne) {
  const TuneIndex index = index_of(1, 40);
  const TuneMatcher matcher(index);
  double least_known = 1;
  double surest_unknown = 0;
  for (unsigned i = 0; i < 10; ++i) {
    const auto known = matcher.match(played(made_tune(1 + i), 10, 24, 0.9, 2, 0.2, i));
    const auto unknown = matcher.match(played(made_tune(500 + i), 10, 24, 0.9, 2, 0.2, i));
    ASSERT_TRUE(known && unknown);
    least_known = std::min(least_known, melody_confidence(*known));
    surest_unknown = std::max(surest_unknown, melody_confidence(*unknown));
  }
  EXPECT_GT(least_known, 0.9);
  EXPECT_LT(surest_unknown, 0.5);
}

TEST(TuneMatcher, TuneThatIsThereTwiceIsNoRivalOfItself) {
  TuneIndex index = index_of(1, 20);
  const auto once = TuneMatcher(index).match(played(made_tune(4), 10, 24, 1, 1, 0.2, 8));
  index.add(made_tune(4));
  const auto twice = TuneMatcher(index).match(played(made_tune(4), 10, 24, 1, 1, 0.2, 8));
  ASSERT_TRUE(once && twice);
  EXPECT_EQ(twice->best.melody, 3U);  // the first of two equal ones
  EXPECT_EQ(twice->second, once->second);
}

TEST(TuneMatcher, RemovedTuneIsNotFound) {
  TuneIndex index = index_of(1, 10);
  index.remove(4);
  index.remove(4);
  EXPECT_EQ(index.removed(), 1U);
  const auto answer = TuneMatcher(index).match(played(made_tune(5), 10, 24, 1, 0, 0, 9));
  ASSERT_TRUE(answer);
  EXPECT_NE(answer->best.melody, 4U);
  EXPECT_EQ(answer->melodies, 9U);
}

TEST(TuneMatcher, SaysNothingWhereThereIsNothingToGoBy) {
  const TuneIndex index = index_of(1, 3);
  const TuneMatcher matcher(index);
  EXPECT_FALSE(matcher.match({}));
  EXPECT_FALSE(matcher.match(Contour(750, 0.0F)));                      // no voice
  EXPECT_FALSE(matcher.match(played(made_tune(1), 0, 4, 1, 0, 0, 1)));  // too short
  EXPECT_FALSE(TuneMatcher(TuneIndex{}).match(played(made_tune(1), 0, 24, 1, 0, 0, 1)));
  TuneIndex shorts;
  shorts.add(made_tune(1, 10));
  EXPECT_FALSE(TuneMatcher(shorts).match(played(made_tune(1), 0, 24, 1, 0, 0, 1)));
}

TEST(TuneMatcher, AStopEndsItWithoutAnAnswer) {
  const TuneIndex index = index_of(1, 3);
  std::stop_source stop;
  stop.request_stop();
  const Contour mix = played(made_tune(1), 0, 24, 1, 0, 0, 1);
  EXPECT_FALSE(TuneMatcher(index).match(mix, stop.get_token()));
  EXPECT_TRUE(TuneMatcher(index).match(mix));
}

TEST(TuneIndex, RefusesAMelodyWithoutNotes) {
  TuneIndex index;
  EXPECT_THROW(index.add({}), std::invalid_argument);
  EXPECT_EQ(index.add(made_tune(1)), 0U);
}

TEST(MelodyConfidence, GrowsWithWhatSpeaksForItAndIsNeverCertain) {
  TuneAnswer answer;
  answer.best = {.agreement = 0.5F, .changes = 0.3F};
  answer.second = 0.5F;
  answer.changes_a_s = 2;
  answer.voiced = 1;
  answer.melodies = 100;
  const double sure = melody_confidence(answer);
  TuneAnswer more = answer;
  more.best.agreement = 0.6F;
  EXPECT_GT(melody_confidence(more), sure);
  more = answer;
  more.second = 0.7F;
  EXPECT_LT(melody_confidence(more), sure);
  more.best = {.agreement = 1, .changes = 1};
  EXPECT_LE(melody_confidence(more), kSurestMelody);
  EXPECT_GT(melody_confidence(TuneAnswer{}), 0);
}

}  // namespace
}  // namespace spintag::fingerprint
