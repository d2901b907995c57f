// fingerprint/cuda/peak_candidates.cu - whitening and box maxima: a warp marches along the frames.
//
// A lane owns 8 columns next to each other, so that the bins 24 below and above are those of the
// lanes 3 below and above, and the whole stage needs no shared memory and no barrier. The sums of
// the whitening's columns are kept in registers: a row comes in, another goes out.
#include "fingerprint/cuda/peak_candidates.cuh"

#include <algorithm>
#include <limits>
#include <vector>

#include "fingerprint/cuda/strip_columns.cuh"
#include "fingerprint/peak_arithmetic.h"

namespace spintag::fingerprint::cuda {
namespace {

using Profile = BroadcastProfile;
using kernels::cuda::Array;

constexpr int kBlocksOfMultiprocessor = 4;                     // at 96 registers
constexpr int kLastPeak = BinRange::count - BinRange::margin;  // one past the last column
static_assert(Strips::kWidth == 32 * kOwned && LevelRows::kColumns >= Strips::kWidth);

/// First column that a strip's warp reads: on a 32-byte sector, and inside the row.
constexpr int first_column(int strip) {
  const int wanted = strip * Strips::kPeakColumns / kOwned * kOwned;
  return wanted < LevelRows::kColumns - Strips::kWidth ? wanted
                                                       : LevelRows::kColumns - Strips::kWidth;
}

/// Whether a strip's peaks are where all that they reach for is read.
constexpr bool covers_its_peaks(int strip) {
  const int begin = BinRange::margin + strip * Strips::kPeakColumns;
  const int last =
      begin + Strips::kPeakColumns < kLastPeak ? begin + Strips::kPeakColumns - 1 : kLastPeak - 1;
  return first_column(strip) <= begin - BinRange::margin &&
         last + BinRange::margin < first_column(strip) + Strips::kWidth;
}
static_assert(covers_its_peaks(0) && covers_its_peaks(1) && covers_its_peaks(2) &&
              covers_its_peaks(3) && covers_its_peaks(4) && Strips::kCount == 5);

/// Whole seconds of one recording, for one block.
struct Stretch {
  std::uint32_t recording = 0;
  std::uint32_t begin_second = 0;  ///< in its recording
  std::uint32_t end_second = 0;
};

struct Arguments {
  const float* levels;
  const RecordingRows* recordings;
  const Stretch* stretches;
  Candidate* candidates;
  std::uint32_t* counts;
  std::uint32_t slots;
  std::int8_t* cells;  ///< of LevelMap; null = not wanted
};

/// One warp's lists, as it goes from second to second.
struct Writer {
  Candidate* list = nullptr;
  std::uint32_t slots = 0;
  std::uint32_t count = 0;

  /// Appends the columns of each lane whose bit is set.
  __device__ __forceinline__ void append(unsigned columns, const Columns& white, int first_column,
                                         std::uint32_t frame_in_second, int lane) {
    for (;;) {
      const unsigned voters = __ballot_sync(kWarp, columns != 0);
      if (voters == 0) return;
      if (columns != 0) {
        const int j = __ffs(static_cast<int>(columns)) - 1;
        const std::uint32_t place = count + __popc(voters & ((1U << lane) - 1));
        float salience = white.at[0];
#pragma unroll
        for (int i = 1; i < kOwned; ++i) salience = i == j ? white.at[i] : salience;
        if (place < slots) {
          list[place] = {.cell = static_cast<std::uint32_t>(first_column + j) |
                                 frame_in_second << Candidate::kColumnBits,
                         .salience_db = salience};
        }
      }
      count += __popc(voters);
      columns &= columns - 1;
    }
  }
};

/// Writes the cells of LevelMap that lie in the columns of this lane.
/// @param cells  of the frame
/// @param begin  first and one past the last column of this strip's share
__device__ __forceinline__ void write_cells(const Columns& white, int column, int begin, int end,
                                            std::int8_t* cells) {
  constexpr int kWide = LevelMap::kBinsPerCell;
  static_assert(kOwned % kWide == 0 && LevelMap::kFirstColumn % kWide == 0);
#pragma unroll
  for (int j = 0; j < kOwned; j += kWide) {
    const int first = column + j;
    if (first < begin || first >= end) continue;
    float highest = white.at[j];
#pragma unroll
    for (int i = 1; i < kWide; ++i) {
      if (first + i < LevelMap::kEndColumn) highest = fmaxf(highest, white.at[j + i]);
    }
    cells[(first - LevelMap::kFirstColumn) / kWide] = level_unit(highest);
  }
}

/// A warp takes one strip of a stretch.
__global__ void __launch_bounds__(32 * Strips::kCount, kBlocksOfMultiprocessor)
    candidate_kernel(Arguments a) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int strip = static_cast<int>(threadIdx.x) / 32;
  const Stretch stretch = a.stretches[blockIdx.x];
  const RecordingRows recording = a.recordings[stretch.recording];
  const int frames = static_cast<int>(recording.frames);
  const int begin = static_cast<int>(first_frame_of(stretch.begin_second));
  const int end = min(frames, static_cast<int>(first_frame_of(stretch.end_second)));

  const int column = first_column(strip) + kOwned * lane;
  const int peaks_begin = BinRange::margin + strip * Strips::kPeakColumns;
  const int peaks_end = min(peaks_begin + Strips::kPeakColumns, kLastPeak);
  unsigned mine = 0;  // which of the lane's columns may hold peaks of this strip
#pragma unroll
  for (int j = 0; j < kOwned; ++j) {
    mine |= column + j >= peaks_begin && column + j < peaks_end ? 1U << j : 0U;
  }

  // Cells begin at whole multiples of their width; a strip has those that begin among its peaks.
  constexpr int kWide = LevelMap::kBinsPerCell;
  const int cells_begin =
      strip == 0 ? LevelMap::kFirstColumn : (peaks_begin + kWide - 1) / kWide * kWide;
  const int cells_end =
      strip + 1 == Strips::kCount ? LevelMap::kEndColumn : (peaks_end + kWide - 1) / kWide * kWide;

  const float* const rows =
      a.levels + static_cast<std::size_t>(recording.first_row) * LevelRows::kStride + column;
  const auto row = [&](int frame) {
    return load(rows + static_cast<std::size_t>(frame) * LevelRows::kStride);
  };

  const int first_white = max(0, begin - Profile::box_frames);
  const int first_summed = max(0, first_white - Profile::whiten_frames);
  int summed_until = min(frames, first_white + Profile::whiten_frames);
  int sums[kOwned] = {};
#pragma unroll 4
  for (int frame = first_summed; frame < summed_until; ++frame) add_steps(row(frame), sums);

  Columns ring[kRing];
#pragma unroll
  for (int r = 0; r < kRing; ++r) {
#pragma unroll
    for (int j = 0; j < kOwned; ++j) ring[r].at[j] = -INFINITY;
  }
  std::uint32_t list = (recording.first_second + stretch.begin_second) * Strips::kCount + strip;
  Writer writer{a.candidates + static_cast<std::size_t>(list) * a.slots, a.slots, 0};
  int second = static_cast<int>(stretch.begin_second);
  int second_begin = begin;
  int next_second_begin = static_cast<int>(first_frame_of(second + 1));
  int rows_summed = 0;
  float per_step = 0;

  for (int group = first_white; group < end + Profile::box_frames; group += kRing) {
#pragma unroll
    for (int r = 0; r < kRing; ++r) {
      const int frame = group + r;  // the row that is whitened; peaks are found two rows before
      if (frame >= end + Profile::box_frames) break;
      if (frame < frames) {
        const int oldest = max(first_summed, frame - Profile::whiten_frames);
        // All three are asked for before any is waited for, also where one is not wanted.
        const Columns level = row(frame);
        const Columns coming = row(min(frame + Profile::whiten_frames, frames - 1));
        const Columns going = row(max(oldest - 1, 0));
        if (frame + Profile::whiten_frames < frames) {
          add_steps(coming, sums);
          summed_until = frame + Profile::whiten_frames + 1;
        }
        if (oldest > first_summed) subtract_steps(going, sums);
        if (summed_until - oldest != rows_summed) {
          rows_summed = summed_until - oldest;
          per_step = mean_factor(rows_summed);
        }
        ring[r] = whiten(level, sums, per_step, lane);
      } else {
#pragma unroll
        for (int j = 0; j < kOwned; ++j) ring[r].at[j] = -INFINITY;
      }
      const int found = frame - Profile::box_frames;
      if (found < begin) continue;
      if (found == next_second_begin) {
        if (lane == 0) a.counts[list] = writer.count;
        list += Strips::kCount;
        writer = {a.candidates + static_cast<std::size_t>(list) * a.slots, a.slots, 0};
        second_begin = found;
        next_second_begin = static_cast<int>(first_frame_of(++second + 1));
      }
      const Columns box = box_maximum(ring);
      const Columns& white = ring[(r + kRing - Profile::box_frames) % kRing];
      if (a.cells != nullptr) {
        const std::size_t at =
            (recording.first_row + static_cast<std::size_t>(found)) * LevelMap::kCells;
        write_cells(white, column, cells_begin, cells_end, a.cells + at);
      }
      unsigned peaks = 0;
#pragma unroll
      for (int j = 0; j < kOwned; ++j) {
        peaks |= white.at[j] >= fmaxf(box.at[j], Profile::floor_salience_db) ? 1U << j : 0U;
      }
      peaks &= mine;
      if (peaks != 0) {
        const Columns level = row(found);
#pragma unroll
        for (int j = 0; j < kOwned; ++j) {
          if (!(level.at[j] >= Profile::floor_level_db)) peaks &= ~(1U << j);
        }
      }
      writer.append(peaks, white, column, static_cast<std::uint32_t>(found - second_begin), lane);
    }
  }
  if (lane == 0) a.counts[list] = writer.count;
}

/// Cuts the recordings so that every multiprocessor gets about two turns: each stretch first reads
/// 200 rows that it only sums.
std::vector<Stretch> cut(const SecondTable& table, std::uint32_t blocks_at_once) {
  constexpr std::uint32_t kShortest = 5;
  constexpr std::uint32_t kLongest = 30;
  const std::uint32_t wanted = 2 * blocks_at_once;
  const std::uint32_t length =
      std::clamp((table.seconds() + wanted - 1) / wanted, kShortest, kLongest);
  std::vector<Stretch> stretches;
  for (std::uint32_t r = 0; r + 1 < table.first_second.size(); ++r) {
    const std::uint32_t seconds = table.first_second[r + 1] - table.first_second[r];
    const std::uint32_t parts = (seconds + length - 1) / length;
    for (std::uint32_t part = 0; part < parts; ++part) {
      stretches.push_back({.recording = r,
                           .begin_second = seconds * part / parts,
                           .end_second = seconds * (part + 1) / parts});
    }
  }
  return stretches;
}

}  // namespace

CandidateLists find_candidates(const std::shared_ptr<kernels::cuda::Context>& context,
                               const LevelRows& rows, const SecondTable& table, std::uint32_t slots,
                               std::int8_t* levels) {
  constexpr int kThreads = 32 * Strips::kCount;
  const std::size_t lists = static_cast<std::size_t>(table.seconds()) * Strips::kCount;
  CandidateLists found{.slots = slots,
                       .candidates = Array<Candidate>(context, lists * slots),
                       .counts = Array<std::uint32_t>(context, lists)};
  const std::vector<Stretch> stretches =
      cut(table, static_cast<std::uint32_t>(kBlocksOfMultiprocessor * context->multiprocessors()));
  const Array<Stretch> on_device(context, stretches);
  kernels::cuda::launch(*context, candidate_kernel, dim3(static_cast<unsigned>(stretches.size())),
                        dim3(kThreads), 0,
                        Arguments{.levels = rows.levels.data(),
                                  .recordings = table.recordings.data(),
                                  .stretches = on_device.data(),
                                  .candidates = found.candidates.data(),
                                  .counts = found.counts.data(),
                                  .slots = slots,
                                  .cells = levels});
  return found;
}

}  // namespace spintag::fingerprint::cuda
