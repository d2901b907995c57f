// tests/unit/fingerprint/packed_melody_test.cpp - melodies as bytes, and bytes that are none.
#include "fingerprint/melody/packed_melody.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace spintag::fingerprint {
namespace {

Melody made_up(unsigned seed, bool whole_semitones) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> length(0.05F, 2);
  std::uniform_int_distribution<int> pitch(0, 127);
  Melody melody;
  float at_s = 0;
  for (std::uint32_t i = 0; i < 300; ++i) {
    if (i % 7 == 0) at_s += length(random);
    if (i % 10 == 0) melody.phrases.push_back(i);
    const float duration_s = length(random);
    const float fine = whole_semitones ? 0 : -0.01F * static_cast<float>(random() % 100);
    melody.notes.push_back(
        {at_s, duration_s, std::max(0.0F, static_cast<float>(pitch(random)) + fine)});
    at_s += duration_s;
  }
  return melody;
}

TEST(PackedMelody, TimesComeBackToTheMillisecondAndPitchesToTheHundredth) {
  const std::vector<Melody> voices = {made_up(1, true), made_up(2, false)};
  const auto found = unpack_melodies(pack_melodies(voices));
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t v = 0; v < 2; ++v) {
    EXPECT_EQ(found[v].phrases, voices[v].phrases);
    ASSERT_EQ(found[v].notes.size(), voices[v].notes.size());
    for (std::size_t i = 0; i < found[v].notes.size(); ++i) {
      const MelodyNote& before = voices[v].notes[i];
      const MelodyNote& after = found[v].notes[i];
      EXPECT_NEAR(after.onset_s, before.onset_s,
                  0.00055)  // half a millisecond, and what floats have at 400 s
          << "errors must not add up";
      EXPECT_NEAR(after.onset_s + after.duration_s, before.onset_s + before.duration_s, 0.0011);
      if (v == 0) {
        EXPECT_EQ(after.pitch, before.pitch);
      } else {
        EXPECT_NEAR(after.pitch, before.pitch, 0.0051);
      }
    }
  }
}

TEST(PackedMelody, BytesAreTheFormThatTheHeaderTells) {
  const Melody melody{{{0.5F, 0.25F, 60}, {0.75F, 0.1F, 58}}, {0}};
  const std::vector<int> expected = {1,                // melody
                                     1,    2,    1,    // step a semitone, notes, phrase
                                     0xF4, 0x03,       // 500 ms of rest
                                     0xFA, 0x01, 120,  // 250 ms, up 60
                                     0,    100,  3,    // no rest, 100 ms, down 2
                                     0};               // the phrase
  const auto packed = pack_melodies({&melody, 1});
  ASSERT_EQ(packed.size(), expected.size());
  for (std::size_t i = 0; i < packed.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(packed[i]), expected[i]) << i;
  }
}

TEST(PackedMelody, PackingWhatWasUnpackedGivesTheSameBytes) {
  const Melody melody = made_up(3, false);
  const auto once = pack_melodies({&melody, 1});
  const auto back = unpack_melodies(once);
  EXPECT_EQ(pack_melodies(back), once);
}

TEST(PackedMelody, WhatIsNoMelodyIsNotPacked) {
  const auto refused = [](const Melody& melody) {
    EXPECT_THROW(pack_melodies({&melody, 1}), MelodyError);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  refused({});
  refused({{{0, 0, 60}}, {}});
  refused({{{0, 1, -1}}, {}});
  refused({{{0, 1, 127.5F}}, {}});
  refused({{{0, 1, nan}}, {}});
  refused({{{nan, 1, 60}}, {}});
  refused({{{-1, 1, 60}}, {}});
  refused({{{0, 1, 60}, {0.5F, 1, 62}}, {}});
  refused({{{0, static_cast<float>(kLongestMelody_s) + 1, 60}}, {}});
  refused({{{0, 1, 60}}, {1}});
  refused({{{0, 1, 60}, {1, 1, 60}}, {1, 1}});
  EXPECT_TRUE(unpack_melodies(pack_melodies({})).empty());
}

TEST(PackedMelody, NotesThatTouchAsFarAsFloatsTellAreNoOverlap) {
  const Melody melody{{{7200.1F, 0.1F, 60}, {7200.2F, 0.1F, 62}}, {}};
  EXPECT_EQ(unpack_melodies(pack_melodies({&melody, 1})).at(0).notes.size(), 2U);
}

TEST(PackedMelody, EveryCutOffOrLongerRowIsDamaged) {
  const Melody melody = made_up(4, true);
  auto packed = pack_melodies({&melody, 1});
  for (std::size_t length = 0; length < packed.size(); ++length) {
    EXPECT_THROW(unpack_melodies(std::span(packed).first(length)), MelodyError) << length;
  }
  packed.push_back(std::byte{0});
  EXPECT_THROW(unpack_melodies(packed), MelodyError);
}

TEST(PackedMelody, AnyBytesAreAMelodyOrRefused) {
  const Melody melody = made_up(5, true);
  const auto whole = pack_melodies({&melody, 1});
  std::mt19937 random(20261121);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto damaged = whole;
    for (int i = 0; i < 2; ++i) {
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    }
    try {
      for (const Melody& found : unpack_melodies(damaged)) {
        EXPECT_LE(found.length_s(), kLongestMelody_s + 0.01);
        EXPECT_NO_THROW(pack_melodies({&found, 1}));
      }
    } catch (const MelodyError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(PackedMelody, MelodiesThatAreTooLongTogetherAreNeitherPackedNorRead) {
  const Melody longest{{{0, static_cast<float>(kLongestMelody_s), 60}}, {}};
  std::vector<Melody> voices(16, longest);
  auto packed = pack_melodies(voices);
  EXPECT_EQ(unpack_melodies(packed).size(), 16U);
  const Melody shortest{{{0, 0.001F, 60}}, {}};
  voices.push_back(shortest);
  EXPECT_THROW(pack_melodies(voices), MelodyError);
  const auto one_more = pack_melodies({&shortest, 1});
  packed.insert(packed.end(), one_more.begin() + 1, one_more.end());
  packed[0] = std::byte{17};
  EXPECT_THROW(unpack_melodies(packed), MelodyError);
}

TEST(PackedMelody, ACountThatNobodyCouldMeanTakesNoMemory) {
  std::vector<std::byte> packed = {std::byte{1}, std::byte{1}};
  for (int i = 0; i < 7; ++i) packed.push_back(std::byte{0xFF});  // 2^49 notes
  packed.push_back(std::byte{0});
  EXPECT_THROW(unpack_melodies(packed), MelodyError);
}

}  // namespace
}  // namespace spintag::fingerprint
