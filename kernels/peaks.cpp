// kernels/peaks.cpp - local maxima of a spectrogram.
#include "kernels/peaks.h"

#include <algorithm>
#include <cassert>

#include "kernels/multiversion.h"

namespace spintag::kernels {
namespace {

constexpr std::size_t kStretch =
    64;  ///< bins that are looked at together; most stretches hold no peak

/// How many cells of each stretch are peaks.
SPINTAG_CLONES void count_peaks(const float* __restrict cells, const float* __restrict maxima,
                                float floor_db, std::size_t stretches,
                                std::uint8_t* __restrict counts) {
  for (std::size_t s = 0; s < stretches; ++s) {
    int count = 0;
    for (std::size_t i = s * kStretch; i < (s + 1) * kStretch; ++i) {
      count += static_cast<int>(cells[i] == maxima[i]) & static_cast<int>(cells[i] > floor_db);
    }
    counts[s] = static_cast<std::uint8_t>(count);
  }
}

/// A frame and its neighbours in time, nullptr where there is none.
struct Rows {
  const float* before;
  const float* cells;
  const float* after;
};

void append_peaks(const Rows& rows, const float* maxima, std::size_t begin, std::size_t end,
                  std::size_t bins, float floor_db, std::uint32_t frame, std::vector<Peak>& peaks) {
  for (std::size_t bin = begin; bin < end; ++bin) {
    if (rows.cells[bin] == maxima[bin] && rows.cells[bin] > floor_db) {
      peaks.push_back(peak_at(rows.before, rows.cells, rows.after, frame,
                              static_cast<std::uint32_t>(bin), bins));
    }
  }
}

void collect_frame(const Rows& rows, const float* maxima, std::size_t bins, float floor_db,
                   std::uint32_t frame, std::vector<Peak>& peaks) {
  constexpr std::size_t kAtOnce = 32;
  std::uint8_t counts[kAtOnce];
  std::size_t bin = 0;
  while (bins - bin >= kStretch) {
    const std::size_t stretches = std::min((bins - bin) / kStretch, kAtOnce);
    count_peaks(rows.cells + bin, maxima + bin, floor_db, stretches, counts);
    for (std::size_t s = 0; s < stretches; ++s, bin += kStretch) {
      if (counts[s] == 0) continue;
      append_peaks(rows, maxima, bin, bin + kStretch, bins, floor_db, frame, peaks);
    }
  }
  append_peaks(rows, maxima, bin, bins, bins, floor_db, frame, peaks);
}

namespace cpu {

std::vector<Peak> find_peaks(SpectrogramView spectrogram, const PeakParams& params) {
  std::vector<Peak> peaks;
  SlidingMax filter(params.footprint, spectrogram.bins);
  std::uint32_t known = 0;
  const auto collect = [&](std::span<const float> maxima) {
    const Rows rows{known > 0 ? spectrogram.frame(known - 1) : nullptr, spectrogram.frame(known),
                    known + 1 < spectrogram.frames ? spectrogram.frame(known + 1) : nullptr};
    collect_frame(rows, maxima.data(), spectrogram.bins, params.floor_db, known, peaks);
    ++known;
  };
  for (std::size_t frame = 0; frame < spectrogram.frames; ++frame) {
    filter.push({spectrogram.frame(frame), spectrogram.bins}, collect);
  }
  filter.finish(collect);
  return peaks;
}

}  // namespace cpu
}  // namespace

std::vector<Peak> find_peaks(Device& device, SpectrogramView spectrogram,
                             const PeakParams& params) {
  return device.is_cuda() ? cuda::find_peaks(device, spectrogram, params)
                          : cpu::find_peaks(spectrogram, params);
}

PeakFinder::PeakFinder(const PeakParams& params, std::size_t bins)
    : bins_(bins),
      floor_db_(params.floor_db),
      sliding_max_(params.footprint, bins),
      ring_rows_(std::max<std::size_t>(params.footprint.look_ahead(), 1) + 2),
      ring_(ring_rows_, bins) {}

void PeakFinder::push(std::span<const float> frame, std::vector<Peak>& peaks) {
  assert(frame.size() == bins_);
  float* newest = ring_.row(come_ % ring_rows_);
  std::copy(frame.begin(), frame.end(), newest);
  ++come_;
  give_waiting(newest, peaks);
  sliding_max_.push(frame, [&](std::span<const float> maxima) { collect(maxima, peaks); });
}

void PeakFinder::finish(std::vector<Peak>& peaks) {
  give_waiting(nullptr, peaks);
  sliding_max_.finish([&](std::span<const float> maxima) { collect(maxima, peaks); });
  give_waiting(nullptr, peaks);
}

void PeakFinder::reset() {
  sliding_max_.reset();
  waiting_.clear();
  come_ = 0;
  known_ = 0;
}

void PeakFinder::collect(std::span<const float> maxima, std::vector<Peak>& peaks) {
  const bool followed = known_ + 1 < come_;
  const Rows rows{known_ > 0 ? row(known_ - 1) : nullptr, row(known_),
                  followed ? row(known_ + 1) : nullptr};
  collect_frame(rows, maxima.data(), bins_, floor_db_, known_, followed ? peaks : waiting_);
  ++known_;
}

void PeakFinder::give_waiting(const float* after, std::vector<Peak>& peaks) {
  for (const Peak& peak : waiting_) {
    peaks.push_back(peak_at(peak.frame > 0 ? row(peak.frame - 1) : nullptr, row(peak.frame), after,
                            peak.frame, peak.bin, bins_));
  }
  waiting_.clear();
}

}  // namespace spintag::kernels
