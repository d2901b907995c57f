// tests/unit/fingerprint/main_melody_test.cpp - skyline, the leading voice, phrases.
#include "fingerprint/melody/main_melody.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fingerprint/melody/phrases.h"
#include "tests/unit/fingerprint/midi_bytes.h"

namespace spintag::fingerprint {
namespace {

namespace midi = spintag::test::midi;

MidiNote note(double onset_s, double duration_s, int pitch) {
  return {onset_s, duration_s, pitch, 90};
}

using Line = std::vector<MelodyNote>;

TEST(Skyline, OfAChordTheHighestNoteStays) {
  const std::vector<MidiNote> chords = {note(0, 1, 60), note(0, 1, 64), note(0.02, 0.98, 67),
                                        note(1, 0.5, 62), note(1, 0.5, 65)};
  EXPECT_EQ(skyline(chords), (Line{{0.02F, 0.98F, 67}, {1, 0.5F, 65}}));
}

TEST(Skyline, ANoteUnderAHigherOneIsLeftOut) {
  const std::vector<MidiNote> held = {note(0, 2, 76), note(0.5, 0.5, 60), note(1, 0.5, 64),
                                      note(2, 1, 74)};
  EXPECT_EQ(skyline(held), (Line{{0, 2, 76}, {2, 1, 74}}));
}

TEST(Skyline, AHigherNoteEndsTheOneBefore) {
  const std::vector<MidiNote> rising = {note(0, 4, 60), note(1, 1, 67)};
  EXPECT_EQ(skyline(rising), (Line{{0, 1, 60}, {1, 1, 67}}));
}

TEST(Skyline, LegatoOverlapsAreCutEvenOnTheWayDown) {
  const std::vector<MidiNote> falling = {note(0, 0.55, 67), note(0.5, 0.55, 65), note(1, 0.5, 64)};
  EXPECT_EQ(skyline(falling), (Line{{0, 0.5F, 67}, {0.5F, 0.5F, 65}, {1, 0.5F, 64}}));
}

TEST(Skyline, ItsNotesNeverOverlapAndThoseWithoutDurationAreGone) {
  const std::vector<MidiNote> odd = {note(0, 0, 80), note(0, 1, 60), note(0.5, 0, 90)};
  EXPECT_EQ(skyline(odd), (Line{{0, 1, 60}}));
  EXPECT_TRUE(skyline({}).empty());
}

MidiSong song_of(const std::vector<std::string>& tracks) {
  const std::string bytes = midi::file(1, 480, tracks);
  return read_midi(std::as_bytes(std::span(bytes)), "song.mid");
}

const std::vector<int> kTune = {72, 74, 76, 77, 79, 77, 76, 74, 72, 76, 79, 76, 74, 71, 72, 72};

std::string chords() {
  std::string events;
  for (int bar = 0; bar < 4; ++bar) {
    events += midi::on(60) + midi::on(64) + midi::on(67) + midi::off(60, 4 * 480) + midi::off(64) +
              midi::off(67);
  }
  return events;
}

TEST(LeadingVoice, TuneLeadsBassChordsDrumsAndAJingle) {
  const std::string bass = midi::line(std::vector<int>(16, 36), 480, 2);
  const std::string kit =
      midi::line({90, 85, 95, 84, 91, 87, 88, 96, 90, 85, 95, 84, 91, 87}, 480, 9);
  const std::string jingle = midi::line({90, 92}, 120, 4);
  const MidiSong song = song_of({bass, chords(), kit, midi::line(kTune, 480, 3), jingle});
  const std::size_t lead = leading_voice(song);
  EXPECT_EQ(song.voices[lead].channel, 3);
  EXPECT_EQ(main_melody(song).notes.size(), kTune.size());
}

TEST(LeadingVoice, NothingButDrumsIsAnError) {
  const MidiSong song = song_of({midi::line({36, 38}, 480, 9)});
  EXPECT_THROW(leading_voice(song), MelodyError);
}

TEST(LeadingVoice, MeasuresAreSharesOfWhatIsThere) {
  // Half of the song sounds, in two chords of two notes; mean of the upper pitches 70.
  const MidiVoice voice{
      "", 0, 0, false, {note(0, 1, 60), note(0, 1, 68), note(2, 1, 60), note(2, 1, 72)}};
  const VoiceMeasures measures = measure(voice, 8);
  EXPECT_DOUBLE_EQ(measures.sounding, 0.5);  // twice 2 s of 8 s
  EXPECT_DOUBLE_EQ(measures.single, 0.5);
  EXPECT_DOUBLE_EQ(measures.height, 0.75);
  EXPECT_DOUBLE_EQ(measures.variety, 1.0 / 3);  // one bit of three
  EXPECT_DOUBLE_EQ(measures.singable, 1);
}

TEST(MainMelody, BeginsAtItsFirstNote) {
  const MidiSong song = song_of({midi::on(60, 4800) + midi::off(60, 480)});
  const Melody melody = main_melody(song);
  EXPECT_EQ(melody.notes, (Line{{0, 0.5F, 60}}));
  EXPECT_EQ(melody.phrases, std::vector<std::uint32_t>{0});
}

TEST(MainMelody, KeysThatAreOnlyTouchedAreNone) {
  EXPECT_THROW(main_melody(song_of({midi::line({60, 62}, 0)})), MelodyError);
}

Line scale(std::size_t notes, std::size_t breath_after) {
  Line line;
  float at_s = 0;
  for (std::size_t i = 0; i < notes; ++i) {
    line.push_back({at_s, 0.5F, 60 + static_cast<float>(i % 2)});
    at_s += i % breath_after == breath_after - 1 ? 1.5F : 0.5F;
  }
  return line;
}

TEST(Phrases, StartAfterBreaths) {
  EXPECT_EQ(phrase_starts(scale(40, 10)), (std::vector<std::uint32_t>{0, 10, 20, 30}));
}

TEST(Phrases, StrengthIsThatOfTheHandExample) {
  // Onset intervals 1, 1, 3, 1 s: changes 0, 1/2, 1/2; strengths 0, 1/2, 3, 1/2, scaled by 3. No
  // rests, one pitch: only the onsets' half counts. A note's strength is that of what leads to it.
  const Line line = {{0, 1, 60}, {1, 1, 60}, {2, 3, 60}, {5, 1, 60}, {6, 1, 60}};
  EXPECT_THAT(boundary_strengths(line),
              ::testing::Pointwise(::testing::DoubleEq(), {0.0, 0.0, 0.5 / 6, 0.5, 0.5 / 6}));
}

TEST(Phrases, OfEvenNotesThereIsOneOfNoneNone) {
  const Line even(20, MelodyNote{0, 0.5F, 60});
  EXPECT_EQ(phrase_starts(even), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(phrase_starts({}).empty());
  EXPECT_EQ(phrase_starts(Line{{0, 1, 60}}), std::vector<std::uint32_t>{0});
}

}  // namespace
}  // namespace spintag::fingerprint
