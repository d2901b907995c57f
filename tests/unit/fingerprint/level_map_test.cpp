// tests/unit/fingerprint/level_map_test.cpp - levels are found again where they were put.
#include "fingerprint/level_map.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

constexpr double kCentreS = 0.5 * Profile::frame_samples / Profile::rate_hz;

double time_of(int frame) { return kCentreS + frame * Profile::frame_s(); }
double freq_of(int column) { return (BinRange::first + column) * BinRange::hz_per_bin; }

std::vector<float> row_of(float salience_db) {
  return std::vector<float>(BinRange::count, salience_db);
}

/// Frames that are silent but for one cell.
LevelMap map_with(int frames, int frame, int column, float salience_db) {
  LevelMap map;
  for (int f = 0; f < frames; ++f) {
    auto row = row_of(-20);
    if (f == frame) row[static_cast<std::size_t>(column)] = salience_db;
    map.put(f, row);
  }
  return map;
}

TEST(LevelMap, LevelIsMetWithinAFrameAndABin) {
  constexpr int kColumn = LevelMap::kFirstColumn + 10 * LevelMap::kBinsPerCell;  // first of a cell
  const LevelMap map = map_with(9, 4, kColumn, 12.5F);
  for (int frame = 0; frame < 9; ++frame) {
    const bool near = frame >= 3 && frame <= 5;
    EXPECT_EQ(map.salience_db(time_of(frame), freq_of(kColumn)), near ? 12.5 : -20.0) << frame;
  }
  EXPECT_EQ(map.salience_db(time_of(4), freq_of(kColumn - 1)), 12.5);
  EXPECT_EQ(map.salience_db(time_of(4), freq_of(kColumn - 2)), -20.0);
  EXPECT_EQ(map.salience_db(time_of(4), freq_of(kColumn + LevelMap::kBinsPerCell)), 12.5);
  EXPECT_EQ(map.salience_db(time_of(4), freq_of(kColumn + LevelMap::kBinsPerCell + 1)), -20.0);
}

TEST(LevelMap, OutsideOfWhatWasHeardThereIsNone) {
  LevelMap map;
  EXPECT_FALSE(map.salience_db(time_of(0), 1000));
  map.put(0, row_of(3));
  EXPECT_EQ(map.salience_db(time_of(0), 1000), 3.0);
  EXPECT_FALSE(map.salience_db(time_of(-1), 1000));
  EXPECT_FALSE(map.salience_db(time_of(1), 1000));
  for (const double beyond :
       {0.0, freq_of(LevelMap::kFirstColumn - 1), freq_of(LevelMap::kEndColumn)})
    EXPECT_FALSE(map.salience_db(time_of(0), beyond)) << beyond;
  EXPECT_EQ(map.salience_db(time_of(0), freq_of(LevelMap::kFirstColumn)), 3.0);
  EXPECT_EQ(map.salience_db(time_of(0), freq_of(LevelMap::kEndColumn - 1)), 3.0);
}

TEST(LevelMap, LevelsAreRoundedToHalfADecibelAndCutAtAByte) {
  for (const auto& [given, kept] : std::vector<std::pair<float, double>>{{0.0F, 0},
                                                                         {0.24F, 0},
                                                                         {0.26F, 0.5},
                                                                         {-0.26F, -0.5},
                                                                         {17.9F, 18},
                                                                         {99, 63},
                                                                         {-99, -63}}) {
    LevelMap map;
    map.put(0, row_of(given));
    EXPECT_EQ(map.salience_db(time_of(0), 1000), kept) << given;
  }
}

TEST(LevelMap, FrameTakesThePlaceOfAPreviewAndOfAllAfterIt) {
  LevelMap map;
  for (int f = 0; f < 6; ++f) map.put(f, row_of(1));
  map.put(3, row_of(7));
  EXPECT_EQ(map.frames(), 4U);
  EXPECT_EQ(map.salience_db(time_of(1), 1000), 1.0);
  EXPECT_EQ(map.salience_db(time_of(3), 1000), 7.0);
  EXPECT_FALSE(map.salience_db(time_of(4), 1000));
}

TEST(LevelMap, WhatIsForgottenIsGoneAndTheRestStaysInItsPlace) {
  LevelMap map;
  map.reset(100);
  constexpr int kFrames = 1500;  // 35 s
  for (int f = 0; f < kFrames; ++f) map.put(f, row_of(static_cast<float>(f % 60)));
  map.forget_before(100 + time_of(3));  // too little to be worth a move
  EXPECT_EQ(map.frames(), static_cast<std::size_t>(kFrames));
  map.forget_before(100 + time_of(1000));
  EXPECT_EQ(map.frames(), 500U);
  EXPECT_FALSE(map.salience_db(100 + time_of(998), 1000));
  EXPECT_EQ(map.salience_db(100 + time_of(1010), 1000), 1011 % 60);
  map.put(kFrames, row_of(61));
  EXPECT_EQ(map.salience_db(100 + time_of(kFrames), 1000), 61.0);
  map.put(7, row_of(9));  // of what is forgotten
  EXPECT_EQ(map.frames(), 501U);
  map.reset(0);
  EXPECT_EQ(map.frames(), 0U);
}

TEST(LevelMap, PeaksStandInIt) {
  const Extraction sound = extraction_of(make_music(5, 6));
  ASSERT_GT(sound.peaks.size(), 300U);
  for (const Peak& peak : sound.peaks) {
    const auto level = sound.levels.salience_db(peak.time_s, peak.freq_hz);
    ASSERT_TRUE(level);
    EXPECT_GE(*level, peak.salience_db - 0.5 * LevelMap::kUnitDb);
  }
}

TEST(LevelMap, PreviewIsReplacedByWhatComes) {
  const auto music = make_music(6, 9);
  const std::span<const float> all(music);
  PeakExtractor extractor;
  Extraction in_pieces;
  std::vector<Peak> previewed;
  for (std::size_t at = 0; at < all.size(); at += 7001) {
    extractor.push(all.subspan(at, std::min<std::size_t>(7001, all.size() - at)), in_pieces.peaks,
                   &in_pieces.levels);
    extractor.preview(previewed, &in_pieces.levels);
  }
  extractor.finish(in_pieces.peaks, &in_pieces.levels);
  EXPECT_EQ(in_pieces.levels, extraction_of(music).levels);
}

}  // namespace
}  // namespace spintag::fingerprint
