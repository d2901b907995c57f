// tests/unit/fingerprint/melody_notes_file_test.cpp - melodies as text.
#include "fingerprint/melody/notes_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace spintag::fingerprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<NamedMelody> read(const std::string& text) {
  std::istringstream in(text);
  return read_notes(in, "tunes.notes");
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const MelodyError& error) {
    return error.what();
  }
  return "no error";
}

TEST(NotesFile, QuartersAreHalfSecondsAndRestsAreGaps) {
  const auto melodies = read("# a comment\n\nfirst\t60:1 r:0.5 62.5:2\t0,1\r\nsecond\t48:0.25\n");
  ASSERT_EQ(melodies.size(), 2U);
  EXPECT_EQ(melodies[0].id, "first");
  EXPECT_THAT(melodies[0].melody.notes,
              ElementsAre(MelodyNote{0, 0.5F, 60}, MelodyNote{0.75F, 1, 62.5F}));
  EXPECT_THAT(melodies[0].melody.phrases, ElementsAre(0, 1));  // the rest's is the next note's
  EXPECT_THAT(melodies[1].melody.notes, ElementsAre(MelodyNote{0, 0.125F, 48}));
  EXPECT_THAT(melodies[1].melody.phrases, IsEmpty());
  EXPECT_THAT(read(""), IsEmpty());
}

TEST(NotesFile, PhrasesWithoutNotesOfTheirOwnAreLeftOut) {
  EXPECT_THAT(read("a\t60:1 r:1 62:1 r:1\t0,1,2,3").front().melody.phrases, ElementsAre(0, 1));
}

TEST(NotesFile, ErrorsNameSourceLineAndWhatIsWrong) {
  EXPECT_EQ(error_of("# one\na\t60:1\nb\t60;1\n"),
            "tunes.notes:3: event \"60;1\" has no length (PITCH:QUARTERS)");
  EXPECT_EQ(error_of("a\tH:1"), "tunes.notes:1: \"H\" is not a MIDI note, 0 to 127, or r");
  EXPECT_THAT(error_of("a\t128:1"), HasSubstr("\"128\" is not a MIDI note"));
  EXPECT_THAT(error_of("a\tnan:1"), HasSubstr("\"nan\" is not a MIDI note"));
  EXPECT_THAT(error_of("a\t60:x"), HasSubstr("\"x\" is not a length in quarters"));
  EXPECT_THAT(error_of("a\t60:-1"), HasSubstr("\"-1\" is not a length in quarters"));
  EXPECT_EQ(error_of("a\t60:0"), "tunes.notes:1: event \"60:0\" has no length");
  EXPECT_EQ(error_of("a\tr:1"), "tunes.notes:1: a has no notes");
  EXPECT_EQ(error_of("just a title"), "tunes.notes:1: just a title has no notes");
  EXPECT_EQ(error_of("\t60:1"), "tunes.notes:1: no id before the first tab");
  EXPECT_THAT(error_of("a\t60:1\t1"), HasSubstr("\"1\" is not the number of an event"));
  EXPECT_EQ(error_of("a\t60:1 60:1\t1,0"),
            "tunes.notes:1: phrase start 0 comes before the one before it");
}

TEST(NotesFile, ErrorsQuoteNoMoreThanFortyBytes) {
  const std::string x(1000, 'x');
  const std::string cut = std::string(40, 'x') + "...";
  EXPECT_EQ(error_of("a\t" + x),
            "tunes.notes:1: event \"" + cut + "\" has no length (PITCH:QUARTERS)");
  EXPECT_EQ(error_of("a\t" + x + ":1"),
            "tunes.notes:1: \"" + cut + "\" is not a MIDI note, 0 to 127, or r");
  EXPECT_EQ(error_of(x), "tunes.notes:1: " + cut + " has no notes");
  EXPECT_EQ(error_of(std::string(40, 'x')),
            "tunes.notes:1: " + std::string(40, 'x') + " has no notes");
  EXPECT_EQ(error_of(std::string(39, 'x') + "\u00e9\u00e9"),
            "tunes.notes:1: " + std::string(39, 'x') + "... has no notes")
      << "no half of a character";
}

TEST(NotesFile, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const auto melodies = read(
      "\xEF\xBB\xBF"
      "first\t60:1\nsecond\t62:1\n");
  ASSERT_EQ(melodies.size(), 2U);
  EXPECT_EQ(melodies[0].id, "first");
  EXPECT_THAT(read("\xEF\xBB\xBF# a comment\n"), IsEmpty());
  EXPECT_THAT(read("\xEF\xBB\xBF\r\n"), IsEmpty());
}

TEST(NotesFile, MissingFileIsNamed) {
  try {
    read_notes_file("/nowhere/tunes.notes");
    FAIL();
  } catch (const MelodyError& error) {
    EXPECT_STREQ(error.what(), "/nowhere/tunes.notes: No such file or directory");
  }
}

TEST(Contour, FramesAreTheNoteThatSoundsAtTheirMiddle) {
  // 32 ms a frame: the first note ends at 80 ms, within the third frame, after its middle.
  const Melody melody{{{0, 0.08F, 60}, {0.1F, 0.028F, 64}}, {}};
  EXPECT_THAT(contour_of(melody), ElementsAre(60, 60, 60, 64));
  EXPECT_THAT(contour_of({}), IsEmpty());
}

TEST(Contour, BridgeKeepsThePitchThroughGapsAndDropsTheEnds) {
  EXPECT_THAT(bridge({0, 0, 60, 0, 0, 62, 0}), ElementsAre(60, 60, 60, 62));
  EXPECT_THAT(bridge({60}), ElementsAre(60));
  EXPECT_THAT(bridge({0, 0}), IsEmpty());
  EXPECT_THAT(bridge({}), IsEmpty());
}

}  // namespace
}  // namespace spintag::fingerprint
