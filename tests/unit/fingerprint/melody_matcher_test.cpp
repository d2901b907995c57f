// tests/unit/fingerprint/melody_matcher_test.cpp - notes as they are sung, and the tune they are
// of.
#include "fingerprint/melody/melody_matcher.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "fingerprint/melody/note_alignment.h"
#include "tests/unit/fingerprint/sung_melodies.h"

namespace spintag::fingerprint {
namespace {

float cost_of(const Melody& melody, const Singer& singer, const SungFrom& from) {
  return NoteAlignment(sung(melody, singer)).cost(melody, from);
}

TEST(NoteAlignment, PerfectSingingCostsItsNotesOnly) {
  const NoteAlignmentParams params;
  const Melody melody = random_melody(1);
  const Singer singer{.from = 8, .notes = 20, .tempo = 0.8F, .key = -3.3F};
  const float cost = cost_of(melody, singer, {.note = 8, .tempo = 0.8F, .key = -3.3F});
  // Frames cut notes at 32 ms, so that durations are right to a tenth or so.
  EXPECT_GE(cost, 20 * params.note_cost);
  EXPECT_LT(cost, 20 * (params.note_cost + 0.1F));
}

TEST(NoteAlignment, AWrongNoteCostsOneMistakeHoweverLong) {
  const NoteAlignmentParams params;
  const std::vector<float> right = {60, 64, 62, 67, 65, 60};
  std::vector<float> wrong = right;
  wrong[3] += 1;
  for (const float length_s : {0.3F, 1.2F}) {
    std::vector<float> lengths_s(6, 0.3F);
    lengths_s[3] = length_s;
    const Contour hum = sung(melody_of(wrong, lengths_s), {.notes = 6});
    NoteAlignment alignment(hum);
    const float more = alignment.cost(melody_of(right, lengths_s), {}) -
                       alignment.cost(melody_of(wrong, lengths_s), {});
    const float expected = 1 / (2 * params.pitch_sd * params.pitch_sd);
    // The key follows by a share of the error, and the two notes after it pay for that.
    EXPECT_GT(more, expected - 0.01F) << length_s;
    EXPECT_LT(more, expected + 0.2F) << length_s;
  }
}

TEST(NoteAlignment, RhythmCounts) {
  const std::vector<float> pitches = {60, 64, 62, 67, 65, 60, 62, 64};
  const std::vector<float> even(8, 0.4F);
  const std::vector<float> dotted = {0.6F, 0.2F, 0.6F, 0.2F, 0.6F, 0.2F, 0.6F, 0.2F};
  NoteAlignment alignment(sung(melody_of(pitches, dotted), {.notes = 8}));
  EXPECT_GT(alignment.cost(melody_of(pitches, even), {}),
            alignment.cost(melody_of(pitches, dotted), {}) + 10);
}

TEST(NoteAlignment, KeyAndTempoMayDrift) {
  const Melody melody = random_melody(2);
  const SungFrom from{.note = 0, .tempo = 1, .key = 0};
  const float steady = cost_of(melody, {}, from);
  EXPECT_LT(cost_of(melody, {.key_drift = 0.05F}, from), steady + 10);
  EXPECT_LT(cost_of(melody, {.tempo_drift = 0.015F}, from), steady + 10);
}

TEST(NoteAlignment, ANoteLeftOutCostsItsPenalty) {
  const NoteAlignmentParams params;
  const Melody melody = random_melody(3);
  const float all = cost_of(melody, {}, {});
  const float without = cost_of(melody, {.left_out = 9}, {});
  EXPECT_LT(without, all + params.left_out_cost);  // one note less is paid for
  EXPECT_GT(without, all);
}

TEST(NoteAlignment, NothingExplainsAHumThatOutlastsTheMelody) {
  const Melody melody = random_melody(4, 30);
  const Contour hum = sung(melody, {.notes = 30});
  EXPECT_TRUE(std::isinf(NoteAlignment(hum).cost(melody, {.note = 25, .tempo = 1, .key = 0})));
  EXPECT_FALSE(std::isinf(NoteAlignment(hum).cost(melody, {})));
}

class MelodyMatcherTest : public testing::Test {
 protected:
  void SetUp() override {
    for (unsigned seed = 0; seed < 200; ++seed) index_.add(random_melody(100 + seed));
  }

  std::vector<MelodyMatch> match(const Contour& hum, const MelodyMatchParams& params = {}) {
    return MelodyMatcher(index_, params).match(device_, hum);
  }

  MelodyIndex index_;
  kernels::Device device_ = kernels::Device::cpu();
};

TEST_F(MelodyMatcherTest, FindsATuneFromAnyNoteInAnyKeyAtAnyTempo) {
  int tried = 0;
  for (const float tempo : {0.62F, 1.0F, 1.55F}) {
    for (const float key : {-9.4F, 0.0F, 7.7F}) {
      const auto number = static_cast<std::uint32_t>(17 + 20 * tried++);
      const Singer singer{
          .from = 11, .notes = 24, .tempo = tempo, .key = key, .wrong_semitones = 0.4F};
      const auto matches = match(sung(index_.melody(number), singer));
      ASSERT_FALSE(matches.empty());
      EXPECT_EQ(matches[0].melody, number);
      EXPECT_TRUE(matches[0].judged);
      EXPECT_NEAR(matches[0].tempo, tempo, 0.07 * tempo);
      EXPECT_NEAR(matches[0].transposition, key, 0.5);
      EXPECT_NEAR(matches[0].start_s, index_.melody(number).notes[11].onset_s, 0.3);
    }
  }
}

TEST_F(MelodyMatcherTest, TellsEveryMelodyOnceAndTheJudgedFirst) {
  const auto matches = match(sung(index_.melody(3), {}), {.judged = 20});
  std::vector<bool> seen(index_.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    EXPECT_FALSE(seen[matches[i].melody]);
    seen[matches[i].melody] = true;
    if (i == 0) continue;
    EXPECT_LE(matches[i].judged, matches[i - 1].judged);
    if (matches[i].judged) {
      EXPECT_GE(matches[i].cost, matches[i - 1].cost);
    }
  }
}

TEST_F(MelodyMatcherTest, SerialAndFastGiveTheSameRanking) {
  MelodyMatchParams serial{
      .warped = 300, .left_at_100 = 200, .left_at_50 = 60, .left_at_25 = 40, .judged = 30};
  serial.serial = true;
  MelodyMatchParams fast = serial;
  fast.serial = false;
  fast.threads = 2;
  const auto hum = sung(index_.melody(42), {.from = 5, .notes = 12, .wrong_semitones = 0.7F});
  EXPECT_EQ(match(hum, fast), match(hum, serial));
}

TEST_F(MelodyMatcherTest, FramesAnOctaveOffCostLittle) {
  Contour hum = sung(index_.melody(21), {.from = 3});
  const float clean = match(hum)[0].cost;
  for (std::size_t i = 5; i < hum.size(); i += 11) hum[i] += 12;
  const auto matches = match(hum);
  EXPECT_EQ(matches[0].melody, 21U);
  EXPECT_LT(matches[0].cost, clean + 15);
}

TEST_F(MelodyMatcherTest, TooShortOrUnvoicedIsNoMatch) {
  EXPECT_TRUE(match({}).empty());
  EXPECT_TRUE(match(Contour(500, 0)).empty());
  EXPECT_TRUE(match(Contour(MelodyMatcher::kShortestHum - 1, 60)).empty());
  EXPECT_FALSE(match(Contour(MelodyMatcher::kShortestHum, 60)).empty());
}

TEST(MelodyIndex, RefusesMelodiesWithoutNotes) {
  MelodyIndex index;
  EXPECT_THROW(index.add({}), std::invalid_argument);
  EXPECT_THROW(index.add({{{0, 0.001F, 60}}, {}}), std::invalid_argument);
  EXPECT_EQ(index.add({{{0, 1, 60}}, {}}), 0U);
  kernels::Device device = kernels::Device::cpu();
  EXPECT_TRUE(MelodyMatcher(MelodyIndex{}).match(device, Contour(100, 60)).empty());
}

}  // namespace
}  // namespace spintag::fingerprint
