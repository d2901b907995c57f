// fingerprint/level_map.cpp - the highest of a few bins, rounded to half a decibel.
#include "fingerprint/level_map.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "fingerprint/profile.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

constexpr double kCentreS = 0.5 * Profile::frame_samples / Profile::rate_hz;
constexpr double kForgetMoreS = 10;  ///< before that much can be dropped, nothing is moved

}  // namespace

void LevelMap::reset(double origin_s) {
  origin_s_ = origin_s;
  first_frame_ = 0;
  cells_.clear();
}

void LevelMap::put(std::int64_t frame, std::span<const float> salience_db) {
  const std::int64_t row = frame - first_frame_;
  if (row < 0) return;  // forgotten
  assert(row <= static_cast<std::int64_t>(frames()));
  cells_.resize(static_cast<std::size_t>(row) * kCells);
  for (int column = kFirstColumn; column < kEndColumn; column += kBinsPerCell) {
    const float* const first = salience_db.data() + column;
    const float* const end = salience_db.data() + std::min(column + kBinsPerCell, kEndColumn);
    cells_.push_back(level_unit(*std::max_element(first, end)));
  }
}

void LevelMap::forget_before(double time_s) {
  const double frame = (time_s - origin_s_ - kCentreS) / Profile::frame_s();
  const auto rows = static_cast<std::int64_t>(std::floor(frame)) - first_frame_;
  if (static_cast<double>(rows) * Profile::frame_s() < kForgetMoreS) return;
  const std::int64_t dropped = std::min(rows, static_cast<std::int64_t>(frames()));
  cells_.erase(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(dropped * kCells));
  first_frame_ += dropped;
}

std::optional<double> LevelMap::salience_db(double time_s, double freq_hz) const {
  const double at = (time_s - origin_s_ - kCentreS) / Profile::frame_s();
  const auto row = static_cast<std::int64_t>(std::lrint(at)) - first_frame_;
  const int column = static_cast<int>(std::lrint(freq_hz / BinRange::hz_per_bin)) - BinRange::first;
  const auto rows = static_cast<std::int64_t>(frames());
  if (row < 0 || row >= rows || column < kFirstColumn || column >= kEndColumn) return std::nullopt;
  const int first_cell = std::max(column - 1 - kFirstColumn, 0) / kBinsPerCell;
  const int last_cell = (std::min(column + 1, kEndColumn - 1) - kFirstColumn) / kBinsPerCell;
  int highest = -128;
  for (auto r = std::max<std::int64_t>(row - 1, 0); r <= std::min(row + 1, rows - 1); ++r) {
    for (int c = first_cell; c <= last_cell; ++c)
      highest = std::max<int>(highest, cells_[static_cast<std::size_t>(r * kCells + c)]);
  }
  return highest * kUnitDb;
}

}  // namespace spintag::fingerprint
