// kernels/cuda/peaks.cu - local maxima of a spectrogram on a CUDA device.
#include "kernels/cuda/peaks.cuh"

#include <algorithm>
#include <vector>

#include "kernels/cuda/peak_marks.cuh"
#include "kernels/cuda/sliding_max.cuh"

namespace spintag::kernels::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarp;
constexpr unsigned kAllLanes = 0xFFFFFFFFU;

/// How many peaks the groups before this block's have. Every block sums them itself: they are few,
/// and a kernel that prepares the sums costs more.
__device__ unsigned long long peaks_before(const std::uint32_t* counts, unsigned size) {
  __shared__ unsigned long long sums[kWarps];
  unsigned long long sum = 0;
  for (unsigned i = threadIdx.x; i < size; i += kThreads) sum += counts[i];
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
  if (threadIdx.x % kWarp == 0) sums[threadIdx.x / kWarp] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (const unsigned long long part : sums) sum += part;
  return sum;
}

/// @return the sum of the values of the threads before this one
/// @param total  becomes that of all
__device__ int sum_before(int value, int& total) {
  __shared__ int sums[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  int up_to_me = value;
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const int below = __shfl_up_sync(kAllLanes, up_to_me, static_cast<unsigned>(step));
    if (lane >= step) up_to_me += below;
  }
  if (lane == kWarp - 1) sums[threadIdx.x / kWarp] = up_to_me;
  __syncthreads();
  int before = up_to_me - value;
  total = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) {
    if (warp < static_cast<int>(threadIdx.x) / kWarp) before += sums[warp];
    total += sums[warp];
  }
  return before;
}

__device__ Peak peak_of_bit(const PeakMarking& marking, int frame, int bin) {
  const float* row = marking.cells + static_cast<std::ptrdiff_t>(frame) * marking.bins;
  return peak_at(frame > 0 ? row - marking.bins : nullptr, row,
                 frame + 1 < marking.frames ? row + marking.bins : nullptr,
                 static_cast<std::uint32_t>(frame), static_cast<std::uint32_t>(bin),
                 static_cast<std::size_t>(marking.bins));
}

/// A block has a group of rows, whose marks it takes as one line: lists where they are, so that
/// each thread then has a peak and all that is read for them is in flight together.
__global__ void __launch_bounds__(kThreads)
    emit_kernel(PeakMarking marking, Peak* peaks, std::size_t capacity, unsigned long long* count) {
  constexpr int kWords = 5;  // of a thread: a group's 32 rows of 2049 bins at a time
  constexpr int kBits = 32;
  constexpr int kListed = 2048;
  __shared__ int listed[kListed];  // bits from the first word on
  const auto strips = static_cast<unsigned>(marking.strips);
  const int first_frame = static_cast<int>(blockIdx.x) * marking.group_rows;
  const int rows = min(marking.group_rows, marking.frames - first_frame);
  const int size = rows * marking.row_words;
  const std::uint32_t* words =
      marking.marks + static_cast<std::ptrdiff_t>(first_frame) * marking.row_words;
  unsigned long long place = 0;
  for (int first = 0; first < size; first += kThreads * kWords) {
    const int mine = static_cast<int>(threadIdx.x) * kWords;
    std::uint32_t bits[kWords];
    int own = 0;
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      bits[k] = mine + k < size - first ? words[first + mine + k] : 0;
      own += __popc(bits[k]);
    }
    if (first == 0) place = peaks_before(marking.counts, blockIdx.x * strips);
    int total = 0;
    const int before = sum_before(own, total);
    for (int begin = 0; begin < total; begin += kListed) {
      int at = before - begin;
#pragma unroll
      for (int k = 0; k < kWords; ++k) {
        for (std::uint32_t left = bits[k]; left != 0; left &= left - 1, ++at) {
          if (at < 0 || at >= kListed) continue;
          listed[at] = (mine + k) * kBits + __ffs(static_cast<int>(left)) - 1;
        }
      }
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < min(total - begin, kListed); i += kThreads) {
        const unsigned long long to = place + static_cast<unsigned>(begin + i);
        if (to >= capacity) break;
        const int word = first + listed[i] / kBits;
        peaks[to] = peak_of_bit(marking, first_frame + word / marking.row_words,
                                word % marking.row_words * kBits + listed[i] % kBits);
      }
      __syncthreads();
    }
    __syncthreads();
    place += static_cast<unsigned>(total);
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count = place;
}

/// Rows of a group: those that are marked together, more if there would be many groups to sum.
int group_rows(std::size_t frames) {
  constexpr std::size_t kMost = std::size_t{1024} * kRegionRows;  // of that many groups
  return static_cast<int>(std::max((frames + kMost - 1) / kMost, std::size_t{1})) * kRegionRows;
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
  marking.strip_words = strip_words(marking.row_words);
  marking.strips = (marking.row_words + marking.strip_words - 1) / marking.strip_words;
  const auto groups =
      static_cast<std::size_t>((marking.frames + marking.group_rows - 1) / marking.group_rows);
  marking.marks =
      room_for(context, scratch.marks, cells.frames * static_cast<std::size_t>(marking.row_words));
  marking.counts =
      room_for(context, scratch.counts, groups * static_cast<std::size_t>(marking.strips));

  const Reach reach = reach_of(params.footprint, cells);
  if (params.footprint.shape() != Footprint::Shape::kMask && marks_by_tiles(marking, reach)) {
    queue_mark_by_tiles(context, marking, reach, scratch.footprint);
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
