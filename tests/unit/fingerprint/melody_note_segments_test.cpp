// tests/unit/fingerprint/melody_note_segments_test.cpp - the notes of a pitch track.
#include "fingerprint/melody/note_segments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace spintag::fingerprint {
namespace {

void hold(Contour& contour, float pitch, int frames) {
  contour.insert(contour.end(), static_cast<std::size_t>(frames), pitch);
}

TEST(NoteSegments, StepsAreCutWhereTheyAre) {
  Contour contour;
  hold(contour, 60, 8);
  hold(contour, 61, 12);
  hold(contour, 59.5F, 5);
  const auto notes = segment_notes(contour);
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0], (MelodyNote{0, 8 / 31.25F, 60}));
  EXPECT_EQ(notes[1], (MelodyNote{8 / 31.25F, 12 / 31.25F, 61}));
  EXPECT_EQ(notes[2], (MelodyNote{20 / 31.25F, 5 / 31.25F, 59.5F}));
}

TEST(NoteSegments, SilencePartsNotesOfOnePitch) {
  Contour contour;
  hold(contour, 0, 4);
  hold(contour, 60, 6);
  hold(contour, 0, 2);
  hold(contour, 60, 6);
  hold(contour, 0, 3);
  const auto notes = segment_notes(contour);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_FLOAT_EQ(notes[0].onset_s, 4 / 31.25F);
  EXPECT_FLOAT_EQ(notes[1].onset_s, 12 / 31.25F);
  EXPECT_FLOAT_EQ(notes[1].duration_s, 6 / 31.25F);
}

TEST(NoteSegments, VibratoAndNoiseAreOneNote) {
  std::mt19937 random(3);
  std::normal_distribution<float> noise(0, 0.1F);
  Contour contour;
  for (int i = 0; i < 40; ++i) {
    contour.push_back(64 + 0.4F * std::sin(0.2F * static_cast<float>(i) * 5.5F) + noise(random));
  }
  ASSERT_EQ(segment_notes(contour).size(), 1U);
  EXPECT_NEAR(segment_notes(contour)[0].pitch, 64, 0.15);
}

TEST(NoteSegments, AGlideIsNoNote) {
  Contour contour;
  hold(contour, 60, 10);
  contour.push_back(61.5F);
  contour.push_back(63.2F);
  hold(contour, 65, 10);
  const auto notes = segment_notes(contour);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].pitch, 60);
  EXPECT_EQ(notes[1].pitch, 65);
}

TEST(NoteSegments, ShortStretchesAndSilenceHaveNone) {
  EXPECT_TRUE(segment_notes({}).empty());
  EXPECT_TRUE(segment_notes({0, 0, 0, 0}).empty());
  EXPECT_TRUE(segment_notes({60, 60, 0, 60, 60}).empty());
  EXPECT_EQ(segment_notes({60, 60, 60}).size(), 1U);
}

TEST(NoteSegments, LongNotesAreCutAtTheLimit) {
  Contour contour;
  hold(contour, 60, 30);
  SegmentParams params;
  params.longest_frames = 20;
  EXPECT_EQ(segment_notes(contour, params).size(), 2U);
}

}  // namespace
}  // namespace spintag::fingerprint
