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

void append_peaks(const float* cells, const float* maxima, std::size_t begin, std::size_t end,
                  float floor_db, std::uint32_t frame, std::vector<Peak>& peaks) {
  for (std::size_t bin = begin; bin < end; ++bin) {
    if (cells[bin] == maxima[bin] && cells[bin] > floor_db) {
      peaks.push_back({frame, static_cast<std::uint32_t>(bin), cells[bin]});
    }
  }
}

void collect_frame(const float* cells, const float* maxima, std::size_t bins, float floor_db,
                   std::uint32_t frame, std::vector<Peak>& peaks) {
  constexpr std::size_t kAtOnce = 32;
  std::uint8_t counts[kAtOnce];
  std::size_t bin = 0;
  while (bins - bin >= kStretch) {
    const std::size_t stretches = std::min((bins - bin) / kStretch, kAtOnce);
    count_peaks(cells + bin, maxima + bin, floor_db, stretches, counts);
    for (std::size_t s = 0; s < stretches; ++s, bin += kStretch) {
      if (counts[s] > 0) append_peaks(cells, maxima, bin, bin + kStretch, floor_db, frame, peaks);
    }
  }
  append_peaks(cells, maxima, bin, bins, floor_db, frame, peaks);
}

}  // namespace

std::vector<Peak> find_peaks([[maybe_unused]] Device& device, SpectrogramView spectrogram,
                             const PeakParams& params) {
  assert(!device.is_cuda());  // Device::open() gives the CPU only
  std::vector<Peak> peaks;
  SlidingMax filter(params.footprint, spectrogram.bins);
  std::uint32_t known = 0;
  const auto collect = [&](std::span<const float> maxima) {
    collect_frame(spectrogram.frame(known), maxima.data(), spectrogram.bins, params.floor_db, known,
                  peaks);
    ++known;
  };
  for (std::size_t frame = 0; frame < spectrogram.frames; ++frame) {
    filter.push({spectrogram.frame(frame), spectrogram.bins}, collect);
  }
  filter.finish(collect);
  return peaks;
}

PeakFinder::PeakFinder(const PeakParams& params, std::size_t bins)
    : bins_(bins),
      floor_db_(params.floor_db),
      sliding_max_(params.footprint, bins),
      ring_rows_(params.footprint.look_ahead() + 1),
      ring_(ring_rows_, bins) {}

void PeakFinder::push(std::span<const float> frame, std::vector<Peak>& peaks) {
  assert(frame.size() == bins_);
  std::copy(frame.begin(), frame.end(), ring_.row(come_ % ring_rows_));
  ++come_;
  sliding_max_.push(frame, [&](std::span<const float> maxima) { collect(maxima, peaks); });
}

void PeakFinder::finish(std::vector<Peak>& peaks) {
  sliding_max_.finish([&](std::span<const float> maxima) { collect(maxima, peaks); });
}

void PeakFinder::reset() {
  sliding_max_.reset();
  come_ = 0;
  known_ = 0;
}

void PeakFinder::collect(std::span<const float> maxima, std::vector<Peak>& peaks) {
  collect_frame(ring_.row(known_ % ring_rows_), maxima.data(), bins_, floor_db_, known_, peaks);
  ++known_;
}

}  // namespace spintag::kernels
