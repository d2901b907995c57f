// tests/unit/fingerprint/peak_finder_test.cpp - whitening and local maxima against a version that
// follows the definition.
#include "fingerprint/peak_finder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;
using Levels = std::vector<std::vector<float>>;  ///< [frames][BinRange::count]

Levels random_levels(std::uint32_t seed, int frames) {
  std::mt19937 random(seed);
  Levels levels(static_cast<std::size_t>(frames), std::vector<float>(BinRange::count));
  for (auto& row : levels) {
    for (float& level : row)
      level = -70.0F + 65.0F * static_cast<float>(random() >> 8) / 16777216.0F;
  }
  return levels;
}

/// Level less the mean over +-100 frames and +-24 bins, in double precision, as the definition
/// reads.
double salience(const Levels& levels, int frame, int bin) {
  double sum = 0;
  int cells = 0;
  const int frames = static_cast<int>(levels.size());
  for (int t = std::max(0, frame - Profile::whiten_frames);
       t <= std::min(frames - 1, frame + Profile::whiten_frames); ++t) {
    for (int b = bin - Profile::whiten_bins; b <= bin + Profile::whiten_bins; ++b) {
      sum += levels[static_cast<std::size_t>(t)][static_cast<std::size_t>(b)];
      ++cells;
    }
  }
  return levels[static_cast<std::size_t>(frame)][static_cast<std::size_t>(bin)] - sum / cells;
}

/// (frame, bin) of every peak, by the definition.
std::set<std::pair<int, int>> naive_peaks(const Levels& levels) {
  const int frames = static_cast<int>(levels.size());
  std::vector<std::vector<double>> white(levels.size(), std::vector<double>(BinRange::count, -1e9));
  for (int t = 0; t < frames; ++t) {
    for (int b = Profile::whiten_bins; b < BinRange::count - Profile::whiten_bins; ++b) {
      white[static_cast<std::size_t>(t)][static_cast<std::size_t>(b)] = salience(levels, t, b);
    }
  }
  std::set<std::pair<int, int>> peaks;
  for (int t = 0; t < frames; ++t) {
    for (int b = BinRange::margin; b < BinRange::count - BinRange::margin; ++b) {
      const double value = white[static_cast<std::size_t>(t)][static_cast<std::size_t>(b)];
      bool peak = value >= Profile::floor_salience_db &&
                  levels[static_cast<std::size_t>(t)][static_cast<std::size_t>(b)] >=
                      Profile::floor_level_db;
      for (int dt = -Profile::box_frames; dt <= Profile::box_frames; ++dt) {
        for (int db = -Profile::box_bins; db <= Profile::box_bins; ++db) {
          if (t + dt < 0 || t + dt >= frames) continue;
          peak = peak &&
                 value >= white[static_cast<std::size_t>(t + dt)][static_cast<std::size_t>(b + db)];
        }
      }
      if (peak) peaks.insert({t, b});
    }
  }
  return peaks;
}

std::vector<Peak> find(const Levels& levels) {
  PeakFinder finder;
  std::vector<Peak> peaks;
  for (const auto& row : levels) finder.push(row, peaks);
  finder.finish(peaks);
  return peaks;
}

/// The cell a peak came from: it is moved by at most half a cell.
std::pair<int, int> cell_of(const Peak& peak) {
  const double frames =
      (peak.time_s - 0.5 * Profile::frame_samples / Profile::rate_hz) / Profile::frame_s();
  return {static_cast<int>(std::lround(frames)),
          static_cast<int>(std::lround(peak.freq_hz / BinRange::hz_per_bin)) - BinRange::first};
}

TEST(PeakFinder, EqualsItsDefinition) {
  for (const int frames :
       {1, 2, 5, 60, 320}) {  // shorter than the box, than the whitening, and longer than both
    const Levels levels = random_levels(static_cast<std::uint32_t>(frames), frames);
    const auto expected = naive_peaks(levels);
    ASSERT_FALSE(expected.empty());
    const auto peaks = find(levels);
    EXPECT_EQ(peaks.size(), expected.size()) << frames;
    std::size_t met = 0;
    for (const Peak& peak : peaks) {
      const auto [frame, bin] = cell_of(peak);
      for (int dt = -1; dt <= 1;
           ++dt) {  // a peak moved by exactly half a cell may round to its neighbour
        for (int db = -1; db <= 1; ++db) {
          if (expected.contains({frame + dt, bin + db})) {
            ++met;
            dt = db = 2;
          }
        }
      }
    }
    EXPECT_EQ(met, peaks.size()) << frames;
  }
}

TEST(PeakFinder, SalienceIsTheLevelAboveTheLocalMean) {
  Levels levels(250, std::vector<float>(BinRange::count, -60.0F));
  levels[120][400] = -20.0F;
  const auto peaks = find(levels);
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_EQ(cell_of(peaks[0]), (std::pair<int, int>{120, 400}));
  // 40 dB over its neighbours, of which its own cell is one in 201 x 49.
  EXPECT_NEAR(peaks[0].salience_db, 40.0 - 40.0 / (201 * 49), 0.01);
}

TEST(PeakFinder, ParabolaFindsTheVertexBetweenCells) {
  Levels levels(250, std::vector<float>(BinRange::count, -60.0F));
  for (int dt = -2; dt <= 2; ++dt) {
    for (int db = -3; db <= 3;
         ++db) {  // a paraboloid with its top 0.3 frames late and 0.2 bins low
      levels[static_cast<std::size_t>(120 + dt)][static_cast<std::size_t>(400 + db)] =
          static_cast<float>(-20.0 - std::pow(dt - 0.3, 2) - 2 * std::pow(db + 0.2, 2));
    }
  }
  const auto peaks = find(levels);
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_NEAR(peaks[0].time_s,
              120.3 * Profile::frame_s() + 0.5 * Profile::frame_samples / Profile::rate_hz, 1e-5);
  EXPECT_NEAR(peaks[0].freq_hz, (BinRange::first + 399.8) * BinRange::hz_per_bin, 1e-3);
}

TEST(PeakFinder, WhiteningForgetsExactly) {
  // A loud passage that has left the window must leave nothing behind in the sums.
  Levels quiet = random_levels(3, 700);
  Levels loud = quiet;
  for (int t = 0; t < 150; ++t) {
    for (float& level : loud[static_cast<std::size_t>(t)]) level += 55.0F;
  }
  const auto late = [](const std::vector<Peak>& peaks) {
    std::vector<std::pair<double, float>> kept;
    for (const Peak& peak : peaks) {
      if (peak.time_s > 300 * Profile::frame_s()) kept.emplace_back(peak.time_s, peak.salience_db);
    }
    return kept;
  };
  EXPECT_EQ(late(find(quiet)), late(find(loud)));
}

}  // namespace
}  // namespace spintag::fingerprint
