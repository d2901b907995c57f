// fingerprint/cuda/peak_candidates.cuh - the cells that PeakFinder finds, of many recordings.
#pragma once

#include <cstdint>
#include <memory>

#include "fingerprint/cuda/level_rows.cuh"
#include "fingerprint/level_map.h"

namespace spintag::fingerprint::cuda {

/// Bins are looked at in strips, each by one warp, so that a strip's lists have one writer.
struct Strips {
  static constexpr int kCount = 5;
  static constexpr int kWidth = 256;  ///< columns that a warp reads
  static constexpr int kPeakColumns =
      (BinRange::count - 2 * BinRange::margin + kCount - 1) / kCount;  ///< that it finds peaks in
};

/// A cell that is the maximum of its box, over both floors.
struct Candidate {
  std::uint32_t cell = 0;  ///< column + 1024 * (frame - first frame of its second)
  float salience_db = 0;

  static constexpr std::uint32_t kColumnBits = 10;
};

/// Candidates by the second that their frame's centre lies in.
struct CandidateLists {
  std::uint32_t slots = 0;                     ///< of each list
  kernels::cuda::Array<Candidate> candidates;  ///< [seconds, Strips::kCount, slots]
  kernels::cuda::Array<std::uint32_t> counts;  ///< [seconds, Strips::kCount]; may be over `slots`:
                                               ///< then the list holds the first so many
};

/// Queues the search.
/// @param levels  if not null, [rows.rows(), LevelMap::kCells]: receives what LevelMap keeps
CandidateLists find_candidates(const std::shared_ptr<kernels::cuda::Context>& context,
                               const LevelRows& rows, const SecondTable& table, std::uint32_t slots,
                               std::int8_t* levels = nullptr);

}  // namespace spintag::fingerprint::cuda
