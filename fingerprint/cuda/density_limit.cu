// fingerprint/cuda/density_limit.cu - a block locates the peaks of one second, counts for each how
// many are stronger, and for each that stays how many are earlier.
#include "fingerprint/cuda/density_limit.cuh"

#include "fingerprint/peak_arithmetic.h"
#include "fingerprint/peak_order.h"

namespace spintag::fingerprint::cuda {
namespace {

using Profile = BroadcastProfile;
using kernels::cuda::Array;

constexpr int kThreads = 128;
constexpr std::uint32_t kKept = Profile::dense_peaks_per_s;

struct Arguments {
  const float* levels;
  const RecordingRows* recordings;
  std::uint32_t recording_count;
  const Candidate* candidates;
  const std::uint32_t* candidate_counts;
  std::uint32_t slots;
  std::uint32_t room;
  unsigned char* scratch;  ///< [seconds, list_bytes(room)], or null: it is shared memory
  Peak* kept;
  std::uint32_t* counts;
  RoomNeeded* needed;
};

/// What a block compares: peaks, and their saliences once more without gaps.
constexpr std::size_t list_bytes(std::size_t room) {
  return (room * (sizeof(Peak) + sizeof(float)) + 15) / 16 * 16;
}

/// The recording that a second belongs to: the last that begins with it or before and has any.
__device__ std::uint32_t recording_of(const Arguments& a, std::uint32_t second) {
  std::uint32_t first = 0;
  std::uint32_t last = a.recording_count - 1;
  while (first < last) {
    const std::uint32_t middle = (first + last) / 2;
    if (a.recordings[middle + 1].first_second > second) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

__device__ Peak locate(const Arguments& a, const RecordingRows& recording, std::int64_t frame,
                       int column, float salience_db) {
  const float* const cell =
      a.levels + (recording.first_row + static_cast<std::size_t>(frame)) * LevelRows::kStride +
      column;
  PeakLevels level;
  level.here = cell[0];
  level.bin_below = cell[-1];
  level.bin_above = cell[1];
  level.between_frames = frame > 0 && frame + 1 < recording.frames;
  if (level.between_frames) {
    level.frame_before = cell[-LevelRows::kStride];
    level.frame_after = cell[LevelRows::kStride];
  }
  return located_peak(frame, column, level, salience_db);
}

/// The peaks of a second as a block gathers them.
struct Gathered {
  Peak* peaks;
  float* saliences;
  std::uint32_t* count;  ///< shared; may pass `room`
  std::uint32_t room;
};

/// Adds those candidates of `listed_second` whose place in time is in `second`. A place is within
/// half a frame of its frame's centre, so of another second only the frame next to this one counts.
__device__ void gather(const Arguments& a, const RecordingRows& recording, std::int64_t second,
                       std::int64_t listed_second, const Gathered& gathered) {
  const std::int64_t first_frame = first_frame_of(listed_second);
  const std::int64_t wanted =
      listed_second < second ? first_frame_of(second) - 1 : first_frame;  // if not the same second
  for (int strip = 0; strip < Strips::kCount; ++strip) {
    const std::size_t list =
        (recording.first_second + static_cast<std::size_t>(listed_second)) * Strips::kCount + strip;
    const std::uint32_t count = min(a.candidate_counts[list], a.slots);
    for (std::uint32_t i = threadIdx.x; i < count; i += kThreads) {
      const Candidate candidate = a.candidates[list * a.slots + i];
      const std::int64_t frame = first_frame + (candidate.cell >> Candidate::kColumnBits);
      if (listed_second != second && frame != wanted) continue;
      const int column = static_cast<int>(candidate.cell & ((1U << Candidate::kColumnBits) - 1));
      const Peak peak = locate(a, recording, frame, column, candidate.salience_db);
      if (!(peak.time_s >= static_cast<double>(second)) ||
          !(peak.time_s < static_cast<double>(second + 1))) {
        continue;
      }
      const std::uint32_t place = atomicAdd(gathered.count, 1U);
      if (place >= gathered.room) continue;
      gathered.peaks[place] = peak;
      gathered.saliences[place] = candidate.salience_db;
    }
  }
}

/// How many of the peaks are stronger than peaks[i]. Equal saliences are rare: only then are the
/// peaks themselves looked at. Even those may be equal (two frames of the same level have their
/// parabolas' vertices on the line between them): then the one that was gathered first counts as
/// stronger, and nobody can tell.
__device__ std::uint32_t rank_by_strength(const Gathered& gathered, std::uint32_t count,
                                          std::uint32_t i) {
  const float mine = gathered.saliences[i];
  std::uint32_t above = 0;
  std::uint32_t not_below = 0;
#pragma unroll 4
  for (std::uint32_t j = 0; j < count; ++j) {
    const float other = gathered.saliences[j];
    above += other > mine ? 1 : 0;
    not_below += other >= mine ? 1 : 0;
  }
  if (not_below - above == 1) return above;
  const Peak peak = gathered.peaks[i];
  std::uint32_t rank = 0;
  for (std::uint32_t j = 0; j < count; ++j) {
    const Peak& other = gathered.peaks[j];
    if (is_stronger(other, peak) || (j < i && !is_stronger(peak, other))) ++rank;
  }
  return rank;
}

/// How many of the peaks that stay are earlier than peaks[i].
__device__ std::uint32_t rank_by_time(const Peak* peaks, std::uint32_t count, std::uint32_t i) {
  const Peak peak = peaks[i];
  std::uint32_t rank = 0;
#pragma unroll 4
  for (std::uint32_t j = 0; j < count; ++j) {
    const double other = peaks[j].time_s;
    if (other < peak.time_s) ++rank;
    if (other != peak.time_s || j == i) continue;
    if (is_earlier(peaks[j], peak) || (j < i && !is_earlier(peak, peaks[j]))) ++rank;
  }
  return rank;
}

__global__ void __launch_bounds__(kThreads) density_kernel(Arguments a) {
  __shared__ Peak staying[kKept];
  __shared__ std::uint32_t gathered_count;
  __shared__ std::uint32_t staying_count;
  unsigned char* const memory =
      a.scratch == nullptr ? kernels::cuda::dynamic_shared<unsigned char>()
                           : a.scratch + static_cast<std::size_t>(blockIdx.x) * list_bytes(a.room);
  const Gathered gathered{reinterpret_cast<Peak*>(memory),
                          reinterpret_cast<float*>(memory + a.room * sizeof(Peak)), &gathered_count,
                          a.room};
  if (threadIdx.x == 0) gathered_count = staying_count = 0;
  const RecordingRows recording = a.recordings[recording_of(a, blockIdx.x)];
  const std::int64_t second = static_cast<std::int64_t>(blockIdx.x) - recording.first_second;
  const std::int64_t last_second = second_of(static_cast<std::int64_t>(recording.frames) - 1);
  __syncthreads();

  const std::int64_t from = second > 0 ? second - 1 : 0;
  const std::int64_t until = second < last_second ? second + 1 : last_second;
  for (std::int64_t listed = from; listed <= until; ++listed) {
    gather(a, recording, second, listed, gathered);
  }
  if (threadIdx.x < Strips::kCount) {
    const std::uint32_t count = a.candidate_counts[blockIdx.x * Strips::kCount + threadIdx.x];
    if (count > a.slots) atomicMax(&a.needed->slots, count);
  }
  __syncthreads();
  if (threadIdx.x == 0 && gathered_count > a.room) atomicMax(&a.needed->peaks, gathered_count);
  const std::uint32_t count = min(gathered_count, a.room);

  for (std::uint32_t i = threadIdx.x; i < count; i += kThreads) {
    if (count > kKept && rank_by_strength(gathered, count, i) >= kKept) continue;
    staying[atomicAdd(&staying_count, 1U)] = gathered.peaks[i];
  }
  __syncthreads();
  const std::uint32_t stay = staying_count;
  for (std::uint32_t i = threadIdx.x; i < stay; i += kThreads) {
    const std::uint32_t rank = rank_by_time(staying, stay, i);
    a.kept[static_cast<std::size_t>(blockIdx.x) * kKept + rank] = staying[i];
  }
  if (threadIdx.x == 0) a.counts[blockIdx.x] = stay;
}

}  // namespace

KeptPeaks limit_density(const std::shared_ptr<kernels::cuda::Context>& context,
                        const LevelRows& rows, const SecondTable& table,
                        const CandidateLists& candidates, std::uint32_t room) {
  const std::size_t seconds = table.seconds();
  KeptPeaks kept{.peaks = Array<Peak>(context, seconds * kKept),
                 .counts = Array<std::uint32_t>(context, seconds + 1),
                 .needed = Array<RoomNeeded>(context, 1)};
  kept.needed.fill_bytes(0);
  const std::size_t bytes = list_bytes(room);
  const bool fits = bytes + kKept * sizeof(Peak) + 1024 <= context->shared_bytes_per_block();
  const Array<unsigned char> scratch(context, fits ? 0 : seconds * bytes);
  kernels::cuda::launch(
      *context, density_kernel, dim3(table.seconds()), dim3(kThreads), fits ? bytes : 0,
      Arguments{.levels = rows.levels.data(),
                .recordings = table.recordings.data(),
                .recording_count = static_cast<std::uint32_t>(table.recordings.size() - 1),
                .candidates = candidates.candidates.data(),
                .candidate_counts = candidates.counts.data(),
                .slots = candidates.slots,
                .room = room,
                .scratch = scratch.data(),
                .kept = kept.peaks.data(),
                .counts = kept.counts.data(),
                .needed = kept.needed.data()});
  return kept;
}

}  // namespace spintag::fingerprint::cuda
