// kernels/cuda/peaks.cu - local maxima of a spectrogram on a CUDA device.
#include "kernels/cuda/peaks.cuh"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cuda/peak_marks.cuh"
#include "kernels/cuda/sliding_max.cuh"

namespace spintag::kernels::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr unsigned kAllLanes = 0xFFFFFFFFU;

__device__ int inclusive_sum(int value) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const int below = __shfl_up_sync(kAllLanes, value, static_cast<unsigned>(step));
    if (lane >= step) value += below;
  }
  return value;
}

/// How many peaks the groups before this block's have. Every block sums them itself: the groups are
/// few, and a kernel that prepares the sums costs more.
__device__ unsigned long long peaks_before(const std::uint32_t* counts) {
  __shared__ unsigned long long sums[kWarps];
  unsigned long long sum = 0;
  for (unsigned group = threadIdx.x; group < blockIdx.x; group += kThreads) sum += counts[group];
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
  if (threadIdx.x % kWarp == 0) sums[threadIdx.x / kWarp] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (const unsigned long long part : sums) sum += part;
  return sum;
}

/// A warp's row: hands out its peaks from `place` on.
__device__ void emit_row(const PeakMarking& marking, int frame, unsigned long long place,
                         Peak* peaks, std::size_t capacity) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const float* row = marking.cells + static_cast<std::ptrdiff_t>(frame) * marking.bins;
  const float* before = frame > 0 ? row - marking.bins : nullptr;
  const float* after = frame + 1 < marking.frames ? row + marking.bins : nullptr;
  const std::uint32_t* words =
      marking.marks + static_cast<std::ptrdiff_t>(frame) * marking.row_words;
  for (int first = 0; first < marking.row_words; first += kWarp) {
    const int word = first + lane;
    std::uint32_t bits = word < marking.row_words ? words[word] : 0;
    const int mine = __popc(bits);
    const int up_to_me = inclusive_sum(mine);
    unsigned long long at = place + static_cast<unsigned>(up_to_me - mine);
    for (; bits != 0; bits &= bits - 1, ++at) {
      if (at >= capacity) break;
      const int bin = word * kWarp + __ffs(static_cast<int>(bits)) - 1;
      peaks[at] = peak_at(before, row, after, static_cast<std::uint32_t>(frame),
                          static_cast<std::uint32_t>(bin), static_cast<std::size_t>(marking.bins));
    }
    place += static_cast<unsigned>(__shfl_sync(kAllLanes, up_to_me, kWarp - 1));
  }
}

/// A block has a group of rows; its warps take one each, eight at a time.
__global__ void __launch_bounds__(kThreads)
    emit_kernel(PeakMarking marking, Peak* peaks, std::size_t capacity, unsigned long long* count) {
  __shared__ int row_counts[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  unsigned long long place = peaks_before(marking.counts);
  const int first = static_cast<int>(blockIdx.x) * marking.group_rows;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count = place + marking.counts[blockIdx.x];
  for (int rows = 0; rows < marking.group_rows; rows += kWarps) {
    const int frame = first + rows + warp;
    int found = 0;
    if (frame < marking.frames) {
      const std::uint32_t* words =
          marking.marks + static_cast<std::ptrdiff_t>(frame) * marking.row_words;
      for (int word = lane; word < marking.row_words; word += kWarp) found += __popc(words[word]);
    }
    found = __reduce_add_sync(kAllLanes, found);
    __syncthreads();
    if (lane == 0) row_counts[warp] = found;
    __syncthreads();
    unsigned long long mine = place;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) mine += static_cast<unsigned>(row_counts[w]);
      place += static_cast<unsigned>(row_counts[w]);
    }
    if (found > 0) emit_row(marking, frame, mine, peaks, capacity);
  }
}

/// Rows of a group: a block's eight warps, more if there would be thousands of groups to sum.
int group_rows(std::size_t frames) {
  constexpr std::size_t kMostGroups = 4096;
  return static_cast<int>(
      std::bit_ceil(std::max<std::size_t>((frames + kMostGroups - 1) / kMostGroups, kWarps)));
}

template <class T>
T* room_for(const std::shared_ptr<Context>& context, Array<T>& array, std::size_t size) {
  if (array.size() < size) array = Array<T>(context, size);
  return array.data();
}

/// What a box or diamond reaches in this array.
Reach reach_of(const Footprint& footprint, SpectrogramView cells) {
  const std::size_t frames = std::min(footprint.anchor_frame(), cells.frames);
  const std::size_t bins = std::min(footprint.anchor_bin(), cells.bins);
  const std::size_t sum = footprint.shape() == Footprint::Shape::kDiamond
                              ? std::min(footprint.anchor_frame(), frames + bins)
                              : frames + bins;
  return {static_cast<int>(frames), static_cast<int>(bins), static_cast<int>(sum)};
}

}  // namespace

void queue_find_peaks(const std::shared_ptr<Context>& context, SpectrogramView cells,
                      const PeakParams& params, PeakScratch& scratch, Peak* peaks,
                      std::size_t capacity, unsigned long long* count) {
  check_size(*context, cells);
  if (cells.frames == 0 || cells.bins == 0) {
    context->check(cudaMemsetAsync(count, 0, sizeof *count, context->stream()), "filling memory");
    return;
  }
  PeakMarking marking{};
  marking.cells = cells.cells;
  marking.frames = static_cast<int>(cells.frames);
  marking.bins = static_cast<int>(cells.bins);
  marking.floor_db = params.floor_db;
  marking.row_words = (marking.bins + kWarp - 1) / kWarp;
  marking.group_rows = group_rows(cells.frames);
  const auto groups =
      static_cast<std::size_t>((marking.frames + marking.group_rows - 1) / marking.group_rows);
  marking.marks =
      room_for(context, scratch.marks, cells.frames * static_cast<std::size_t>(marking.row_words));
  marking.counts = room_for(context, scratch.counts, groups);

  const Reach reach = reach_of(params.footprint, cells);
  if (params.footprint.shape() != Footprint::Shape::kMask && reaches_a_tile(reach)) {
    queue_mark_by_tiles(context, marking, reach, scratch.tiles);
  } else {
    float* maxima = room_for(context, scratch.maxima, cells.frames * cells.bins);
    queue_sliding_max(context, cells, params.footprint, maxima);
    queue_mark_by_maxima(context, marking, maxima);
  }
  launch(*context, emit_kernel, dim3(static_cast<unsigned>(groups)), dim3(kThreads), 0, marking,
         peaks, capacity, count);
}

std::vector<Peak> find_peaks(Device& device, SpectrogramView spectrogram,
                             const PeakParams& params) {
  const auto& context = device.shared_context();
  context->make_current();
  const std::size_t size = spectrogram.frames * spectrogram.bins;
  const Array<float> cells(context, std::span<const float>(spectrogram.cells, size));
  const Array<unsigned long long> count(context, 1);
  PeakScratch scratch;
  constexpr std::size_t kCellsPerPeak = 64;  // a diamond of radius 10 has a peak in 221 at random
  std::size_t capacity = size / kCellsPerPeak + 1024;
  for (;;) {
    const Array<Peak> peaks(context, capacity);
    queue_find_peaks(context, {cells.data(), spectrogram.frames, spectrogram.bins}, params, scratch,
                     peaks.data(), capacity, count.data());
    const std::size_t found = count.download().front();
    if (found <= capacity) return peaks.download(found);
    capacity = found;
  }
}

}  // namespace spintag::kernels::cuda
