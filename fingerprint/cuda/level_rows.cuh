// fingerprint/cuda/level_rows.cuh - levels of many recordings in device memory, and the seconds
// that their peaks are counted in.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fingerprint/peak_finder.h"
#include "fingerprint/profile.h"
#include "kernels/cuda/context.cuh"
#include "kernels/cuda/stft.cuh"
#include "kernels/host_device.h"

namespace spintag::fingerprint::cuda {

/// Rows of levels, [rows, kStride], those of all recordings one after the other.
struct LevelRows {
  /// Columns that are written: BinRange::count, and up to a whole 32-byte sector of memory.
  static constexpr int kColumns = (BinRange::count + 7) / 8 * 8;
  static constexpr int kStride = (BinRange::count + 31) / 32 * 32;

  kernels::cuda::Array<float> levels;
  std::vector<std::uint32_t> first_row;  ///< [recordings + 1]
};

/// Queues the levels of recordings that lie in device memory, as PeakExtractor takes them.
/// @param samples  mono, BroadcastProfile::rate_hz; places should be even
LevelRows make_level_rows(const std::shared_ptr<kernels::cuda::Context>& context,
                          const float* samples, std::span<const kernels::cuda::SignalPlace> places);

/// First frame whose centre lies in a second or after it.
SPINTAG_HOST_DEVICE inline std::int64_t first_frame_of(std::int64_t second) {
  constexpr std::int64_t kHop = BroadcastProfile::hop_samples;
  constexpr std::int64_t kHalf = BroadcastProfile::frame_samples / 2;
  const std::int64_t centre = second * BroadcastProfile::rate_hz - kHalf;
  return centre <= 0 ? 0 : (centre + kHop - 1) / kHop;
}

/// The second that a frame's centre lies in.
SPINTAG_HOST_DEVICE inline std::int64_t second_of(std::int64_t frame) {
  return (frame * BroadcastProfile::hop_samples + BroadcastProfile::frame_samples / 2) /
         BroadcastProfile::rate_hz;
}

/// A recording as the kernels know it.
struct RecordingRows {
  std::uint32_t first_row = 0;
  std::uint32_t frames = 0;
  std::uint32_t first_second = 0;  ///< of all recordings' seconds, one after the other
};

/// The recordings of LevelRows, and their seconds counted through.
struct SecondTable {
  SecondTable(const std::shared_ptr<kernels::cuda::Context>& context, const LevelRows& rows);

  kernels::cuda::Array<RecordingRows> recordings;  ///< [count + 1]; the last holds the ends
  std::vector<std::uint32_t> first_second;         ///< [count + 1]
  std::uint32_t seconds() const { return first_second.back(); }
};

}  // namespace spintag::fingerprint::cuda
