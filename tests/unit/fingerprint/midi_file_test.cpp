// tests/unit/fingerprint/midi_file_test.cpp - Standard MIDI Files: formats, time, damage.
#include "fingerprint/melody/midi_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/unit/fingerprint/midi_bytes.h"

namespace spintag::fingerprint {
namespace {

namespace midi = spintag::test::midi;
using ::testing::HasSubstr;

MidiSong read(const std::string& bytes) {
  return read_midi(std::as_bytes(std::span(bytes)), "tune.mid");
}

std::string fault(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const MelodyError& error) {
    return error.what();
  }
  return "";
}

/// One voice in a file of one track, 480 ticks a quarter.
std::vector<MidiNote> notes_of(const std::string& events) {
  const MidiSong song = read(midi::file(0, 480, {events}));
  EXPECT_EQ(song.voices.size(), 1U);
  return song.voices.at(0).notes;
}

TEST(MidiFile, NotesHaveSecondsAtHalfASecondAQuarterUnlessSaidOtherwise) {
  const auto notes = notes_of(midi::on(60, 480) + midi::off(60, 240) + midi::on(64, 0, 0, 12) +
                              midi::off(64, 960));
  EXPECT_EQ(notes, (std::vector<MidiNote>{{0.5, 0.25, 60, 90}, {0.75, 1.0, 64, 12}}));
}

TEST(MidiFile, ANoteOnOfNoVelocityIsANoteOff) {
  const auto notes =
      notes_of(midi::on(60) + midi::on(60, 480, 0, 0) + midi::on(62) + midi::off(62, 480));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].duration_s, 0.5);
}

TEST(MidiFile, RunningStatusGoesOnAlsoAfterMetaEvents) {
  const auto notes = notes_of(midi::on(60) + midi::bytes({0x83, 0x60, 60, 0}) +  // 480 ticks
                              midi::meta(0x06, "marker") + midi::bytes({0, 62, 90}) +
                              midi::bytes({0x83, 0x60, 62, 0}));
  EXPECT_EQ(notes, (std::vector<MidiNote>{{0, 0.5, 60, 90}, {0.5, 0.5, 62, 90}}));
}

TEST(MidiFile, EventsWithoutNotesAreSkippedWithTheirData) {
  const auto notes = notes_of(midi::bytes({0, 0xC0, 5, 0, 0xE0, 0, 64, 0, 0xB0, 7, 100}) +
                              midi::bytes({0, 0xD0, 9, 0, 0xA0, 60, 1}) +
                              midi::bytes({0, 0xF0, 3, 0x90, 60, 0xF7}) + midi::line({60}, 480));
  EXPECT_EQ(notes, (std::vector<MidiNote>{{0, 0.5, 60, 90}}));
}

TEST(MidiFile, AKeyStruckAgainIsLetGoAsOftenTheFirstStruckFirst) {
  const auto notes =
      notes_of(midi::on(60) + midi::on(60, 480) + midi::off(60, 0) + midi::off(60, 480));
  EXPECT_EQ(notes, (std::vector<MidiNote>{{0, 0.5, 60, 90}, {0.5, 0.5, 60, 90}}));
}

TEST(MidiFile, AKeyNeverLetGoSoundsToTheEndOfItsTrack) {
  const auto notes = notes_of(midi::on(60) + midi::on(72, 480) + midi::off(72, 480));
  EXPECT_EQ(notes.at(0), (MidiNote{0, 1.0, 60, 90}));
}

TEST(MidiFile, AllNotesOffLetsGoOfItsChannelAlone) {
  const MidiSong song =
      read(midi::file(0, 480,
                      {midi::on(60, 0, 1) + midi::on(60, 0, 2) +
                       midi::bytes({0x83, 0x60, 0xB1, 123, 0}) + midi::off(60, 480, 2)}));
  ASSERT_EQ(song.voices.size(), 2U);
  EXPECT_EQ(song.voices[0].notes, (std::vector<MidiNote>{{0, 0.5, 60, 90}}));
  EXPECT_EQ(song.voices[1].notes, (std::vector<MidiNote>{{0, 1.0, 60, 90}}));
}

TEST(MidiFile, VoicesAreTracksAndTheirChannels) {
  const MidiSong song =
      read(midi::file(1, 96,
                      {midi::name("Air") + midi::tempo(500'000),
                       midi::name("Lead") + midi::line({60, 62}, 96, 3) + midi::line({40}, 96, 1),
                       midi::name("Kit") + midi::line({36}, 96, 9)}));
  EXPECT_EQ(song.title, "Air");
  EXPECT_EQ(song.length_s, 1.5);
  ASSERT_EQ(song.voices.size(), 3U);
  EXPECT_EQ(song.voices[0].channel, 1);
  EXPECT_EQ(song.voices[1].channel, 3);
  EXPECT_EQ(song.voices[1].notes.size(), 2U);
  EXPECT_EQ(song.voices[1].name, "Lead");
  EXPECT_EQ(song.voices[1].track, 1U);
  EXPECT_FALSE(song.voices[1].drums);
  EXPECT_TRUE(song.voices[2].drums);
}

TEST(MidiFile, TheTempoMapOfOneTrackTimesAllOthers) {
  // 120 quarters a minute for two quarters, then 60: ticks 0, 480, 960, 1440 are 0, 0.5, 1, 2 s.
  const MidiSong song = read(midi::file(
      1, 480, {midi::tempo(500'000) + midi::tempo(1'000'000, 960), midi::line({60, 62, 64}, 480)}));
  const auto& notes = song.voices.at(0).notes;
  EXPECT_EQ(notes, (std::vector<MidiNote>{{0, 0.5, 60, 90}, {0.5, 0.5, 62, 90}, {1, 1, 64, 90}}));
}

TEST(MidiFile, ANoteAcrossATempoChangeLastsTheSumOfBoth) {
  const auto notes = notes_of(midi::on(60) + midi::tempo(250'000, 480) + midi::off(60, 480));
  EXPECT_EQ(notes, (std::vector<MidiNote>{{0, 0.75, 60, 90}}));
}

TEST(MidiFile, SmpteTimeCountsFramesWhateverTheTempo) {
  const auto length = [](int upper) {
    return read(midi::file(0, upper << 8 | 40, {midi::tempo(1'000'000) + midi::line({60}, 1000)}))
        .length_s;
  };
  EXPECT_DOUBLE_EQ(length(0xE7), 1.0);                             // 25 frames of 40 ticks
  EXPECT_DOUBLE_EQ(length(0xE8), 1000.0 / (24 * 40));              // 24
  EXPECT_DOUBLE_EQ(length(0xE2), 1000.0 / (30 * 40));              // 30
  EXPECT_DOUBLE_EQ(length(0xE3), 1000.0 * 1001 / (30000.0 * 40));  // 29: drop frame
}

TEST(MidiFile, PatternsOfFormat2FollowEachOtherEachInItsOwnTempo) {
  const MidiSong song = read(
      midi::file(2, 480, {midi::tempo(1'000'000) + midi::line({60}, 480), midi::line({62}, 480)}));
  ASSERT_EQ(song.voices.size(), 2U);
  EXPECT_EQ(song.voices[0].notes, (std::vector<MidiNote>{{0, 1.0, 60, 90}}));
  EXPECT_EQ(song.voices[1].notes, (std::vector<MidiNote>{{1.0, 0.5, 62, 90}}));
}

TEST(MidiFile, OtherChunksLongHeadersAndTrailingBytesAreNoMatter) {
  const std::string track = midi::chunk("MTrk", midi::line({60}, 480));  // without end of track
  const std::string header = midi::chunk("MThd", midi::bytes({0, 0, 0, 1, 1, 0xE0, 'n', 'e', 'w'}));
  EXPECT_EQ(read(header + midi::chunk("XFIH", "data") + track + "trailing").length_s, 0.5);
}

TEST(MidiFile, RmidIsUnwrapped) {
  const std::string inner = midi::file(0, 480, {midi::line({60}, 480)});
  const std::string outer = "RIFF" + std::string(4, '\0') + "RMIDdata" + std::string(4, '\0');
  EXPECT_EQ(read(outer + inner).length_s, 0.5);
  EXPECT_THAT(fault("RIFF....WAVEfmt ........" + inner), HasSubstr("not one of MIDI"));
}

TEST(MidiFile, DamageIsNamedWithItsByte) {
  EXPECT_THAT(fault(""), HasSubstr("tune.mid: byte 0: not a Standard MIDI File"));
  EXPECT_THAT(fault("ID3 something quite different"), HasSubstr("byte 0: not a Standard"));
  EXPECT_EQ(fault(midi::header(3, 1, 480)), "tune.mid: byte 8: format 3 is not known");
  EXPECT_EQ(fault(midi::header(0, 1, 0)), "tune.mid: byte 12: a quarter of 0 ticks");
  EXPECT_THAT(fault(midi::header(0, 1, 0x9C28)), HasSubstr("byte 12: SMPTE time of 100 frames"));
  EXPECT_EQ(fault(midi::header(0, 1, 0xE700)), "tune.mid: byte 12: a frame of 0 ticks");
  EXPECT_EQ(fault(midi::header(1, 2, 480) + midi::chunk("MTrk", midi::line({60}, 9))),
            "tune.mid: byte 30: the file ends before track 2 of 2");
  const auto events = [](const std::string& data) { return midi::file(0, 480, {data}); };
  EXPECT_EQ(fault(events(midi::bytes({0, 60, 90}))),
            "tune.mid: byte 23: an event without a status");
  EXPECT_EQ(fault(events(midi::bytes({0, 0x90, 0x90, 1}))),
            "tune.mid: byte 24: a status where a data byte should be");
  EXPECT_EQ(fault(events(midi::bytes({0, 0xF5}))),
            "tune.mid: byte 23: a status that no file may hold");
  EXPECT_EQ(fault(events(midi::bytes({0xFF, 0xFF, 0xFF, 0xFF, 0}))),
            "tune.mid: byte 22: a number of more than four bytes");
  EXPECT_EQ(fault(events(midi::tempo(0))), "tune.mid: byte 26: a tempo without time");
  EXPECT_THAT(fault(events(midi::meta(0x51, "12"))), HasSubstr("a tempo of 2 bytes"));
  EXPECT_EQ(fault(midi::file(0, 480, {midi::name("silence")})), "tune.mid: there is no note in it");
}

TEST(MidiFile, EveryCutOffFileIsRefusedAndNothingElseHappens) {
  const std::string whole =
      midi::file(1, 480, {midi::name("Air") + midi::tempo(400'000), midi::line({60, 64, 67}, 480)});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(fault(whole.substr(0, length)), HasSubstr("tune.mid: byte")) << length;
  }
  EXPECT_EQ(fault(whole), "");
}

TEST(MidiFile, AnyDamagedFileIsReadOrRefused) {
  const std::string whole = midi::file(
      1, 480, {midi::name("Air") + midi::tempo(400'000), midi::line({60, 64, 67, 64, 60}, 480)});
  std::mt19937 random(20261121);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const MidiSong song = read(damaged);
      EXPECT_LE(song.length_s, kLongestMidiSong_s);
      for (const MidiVoice& voice : song.voices) EXPECT_FALSE(voice.notes.empty());
    } catch (const MelodyError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(MidiFile, WhatLastsForDaysIsNoSong) {
  // One tick a quarter of 16.7 s, 2^28 of them: 142 years.
  const std::string years =
      midi::file(0, 1, {midi::tempo(0xFFFFFF) + midi::on(60) + midi::off(60, 0x0FFFFFFF)});
  EXPECT_THAT(fault(years), HasSubstr("too long for a song"));
}

TEST(MidiFile, WhatIsTooLargeIsNotRead) {
  EXPECT_THAT(fault(std::string(kLargestMidiFile + 1, '\0')), HasSubstr("too many for a song"));
}

TEST(MidiFile, ManyKeysDownAtATimeTakeNoTimeToLetGo) {
  std::string events;
  for (int i = 0; i < 300'000; ++i) events += midi::bytes({0, 0x90, 60, 1});
  for (int i = 0; i < 300'000; ++i) events += midi::bytes({1, 0x80, 60, 1});
  const MidiSong song = read(midi::file(0, 480, {events}));
  ASSERT_EQ(song.voices.at(0).notes.size(), 300'000U);
  EXPECT_NEAR(song.length_s, 300'000 * 0.5 / 480, 1e-6);
}

TEST(MidiFile, AFileThatCannotBeOpenedSaysWhy) {
  EXPECT_THROW(read_midi_file("/nonexistent/tune.mid"), MelodyError);
}

}  // namespace
}  // namespace spintag::fingerprint
