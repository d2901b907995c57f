// fingerprint/peak_finder.cpp - whitening with integer sums, a separable box maximum, parabolic
// interpolation.
#include "fingerprint/peak_finder.h"

#include <algorithm>

#include "fingerprint/level_map.h"
#include "fingerprint/peak_arithmetic.h"
#include "kernels/multiversion.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;
constexpr int kBins = BinRange::count;
constexpr int kFirstWhite = Profile::whiten_bins;         ///< column of the first whitened bin
constexpr int kLastWhite = kBins - Profile::whiten_bins;  ///< one past the last
constexpr int kFirstPeak = BinRange::margin;  ///< column of the first bin that may hold a peak
constexpr int kLastPeak = kBins - BinRange::margin;  ///< one past the last

SPINTAG_CLONES void add_row(const float* row, std::int32_t sign, std::int32_t* sums) {
  for (int i = 0; i < kBins; ++i) sums[i] += sign * level_steps(row[i]);
}

/// white[i] = row[i] - mean over +-whiten_bins, from prefix[i] = sum of the columns before i. In
/// silence that sum passes 2^31: it is kept modulo 2^32, where the difference of two is exact.
SPINTAG_CLONES void subtract_mean(const float* row, const std::uint32_t* prefix, float per_step,
                                  float* white) {
  for (int i = kFirstWhite; i < kLastWhite; ++i) {
    const auto sum = static_cast<std::int32_t>(prefix[i + Profile::whiten_bins + 1] -
                                               prefix[i - Profile::whiten_bins]);
    white[i] = row[i] - static_cast<float>(sum) * per_step;
  }
}

/// highest[i] = max of white[i - 3 .. i + 3]
SPINTAG_CLONES void max_along_bins(const float* white, float* highest) {
  static_assert(Profile::box_bins == 3);
  for (int i = kFirstPeak; i < kLastPeak; ++i) {
    const float a = std::max(white[i - 3], white[i + 3]);
    const float b = std::max(white[i - 2], white[i + 2]);
    const float c = std::max(white[i - 1], white[i + 1]);
    highest[i] = std::max(std::max(a, b), std::max(c, white[i]));
  }
}

SPINTAG_CLONES void take_max(const float* row, float* into) {
  for (int i = kFirstPeak; i < kLastPeak; ++i) into[i] = std::max(row[i], into[i]);
}

/// Leaves the salience where a cell is the maximum of its box and over both floors, else 0. Says
/// whether any is left.
SPINTAG_CLONES bool keep_maxima(const float* white, const float* level, float* box_maximum) {
  int found = 0;
  for (int i = kFirstPeak; i < kLastPeak; ++i) {
    const bool peak = (white[i] >= box_maximum[i]) & (white[i] >= Profile::floor_salience_db) &
                      (level[i] >= Profile::floor_level_db);
    box_maximum[i] = peak ? white[i] : 0.0F;
    found |= static_cast<int>(peak);
  }
  return found != 0;
}

}  // namespace

PeakFinder::PeakFinder()
    : levels_(static_cast<std::size_t>(kLevelRows) * kStride),
      column_sums_(kBins),
      prefix_(kBins + 1),
      white_(static_cast<std::size_t>(kWhiteRows) * kStride),
      highest_(static_cast<std::size_t>(kWhiteRows) * kStride),
      candidates_(kStride) {}

void PeakFinder::reset() {
  std::fill(column_sums_.begin(), column_sums_.end(), 0);
  frames_in_ = oldest_summed_ = next_white_frame_ = next_peak_frame_ = 0;
}

void PeakFinder::push(std::span<const float> level_db, std::vector<Peak>& peaks, LevelMap* levels) {
  float* row = level_row(frames_in_);
  std::copy_n(level_db.begin(), kBins, row);
  add_row(row, 1, column_sums_.data());
  ++frames_in_;
  if (frames_in_ - 1 - next_white_frame_ == Profile::whiten_frames) whiten_next(peaks, levels);
}

void PeakFinder::finish(std::vector<Peak>& peaks, LevelMap* levels) {
  while (next_white_frame_ < frames_in_) whiten_next(peaks, levels);
  while (next_peak_frame_ < frames_in_) find_in(next_peak_frame_, peaks);
}

void PeakFinder::whiten_next(std::vector<Peak>& peaks, LevelMap* levels) {
  const std::int64_t frame = next_white_frame_++;
  for (; oldest_summed_ < frame - Profile::whiten_frames; ++oldest_summed_) {
    add_row(level_row(oldest_summed_), -1, column_sums_.data());
  }
  std::uint32_t running = 0;
  for (int i = 0; i < kBins; ++i) {
    prefix_[static_cast<std::size_t>(i)] = running;
    running += static_cast<std::uint32_t>(column_sums_[static_cast<std::size_t>(i)]);
  }
  prefix_[kBins] = running;
  subtract_mean(level_row(frame), prefix_.data(), mean_factor(frames_in_ - oldest_summed_),
                white_row(frame));
  if (levels != nullptr) levels->put(frame, {white_row(frame), BinRange::count});
  max_along_bins(white_row(frame), highest_row(frame));
  if (frame - next_peak_frame_ == Profile::box_frames) find_in(next_peak_frame_, peaks);
}

void PeakFinder::find_in(std::int64_t frame, std::vector<Peak>& peaks) {
  next_peak_frame_ = frame + 1;
  const std::int64_t first = std::max<std::int64_t>(0, frame - Profile::box_frames);
  const std::int64_t last = std::min(next_white_frame_ - 1, frame + Profile::box_frames);
  std::copy_n(highest_row(first), kStride, candidates_.data());
  for (std::int64_t row = first + 1; row <= last; ++row)
    take_max(highest_row(row), candidates_.data());
  if (!keep_maxima(white_row(frame), level_row(frame), candidates_.data())) return;
  for (int i = kFirstPeak; i < kLastPeak; ++i) {
    if (candidates_[static_cast<std::size_t>(i)] <= 0.0F) continue;
    peaks.push_back(locate(frame, i, candidates_[static_cast<std::size_t>(i)]));
  }
}

Peak PeakFinder::locate(std::int64_t frame, int column, float salience_db) const {
  const float* row = level_row(frame);
  PeakLevels levels{.here = row[column],
                    .bin_below = row[column - 1],
                    .bin_above = row[column + 1],
                    .between_frames = frame > 0 && frame + 1 < frames_in_};
  if (levels.between_frames) {
    levels.frame_before = level_row(frame - 1)[column];
    levels.frame_after = level_row(frame + 1)[column];
  }
  return located_peak(frame, column, levels, salience_db);
}

}  // namespace spintag::fingerprint
