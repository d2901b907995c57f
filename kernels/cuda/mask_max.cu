// kernels/cuda/mask_max.cu - sliding maximum over any footprint.
#include "kernels/cuda/mask_max.cuh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/cuda/sliding_max.cuh"

namespace spintag::kernels::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kTileFrames = 32;  // what a block writes
constexpr int kTileBins = 64;
constexpr int kPartFrames = 32;  // what of the footprint it looks at together
constexpr int kPartBins = 64;
constexpr int kLevels = 7;                      // windows of 1, 2, 4, ... 64 bins
constexpr int kStride = kTileBins + kPartBins;  // of the cells that both together reach
constexpr int kMaxRuns = kPartFrames * kPartBins / 2;

/// A part of the footprint: runs of neighbouring bins, each as two windows of a power of two that
/// overlap.
struct MaskPart {
  int frame = 0;  ///< of its first row and bin, from the cell that the footprint is laid on
  int bin = 0;
  int frames = 0;
  int runs_begin = 0;
  int runs_end[kLevels] = {};  ///< runs are sorted by the length of their windows
};

/// Where a run's two windows begin in the block's cells, 16 bits each.
using MaskRun = std::uint32_t;

class MaskPlan {
 public:
  MaskPlan(const Footprint& footprint, SpectrogramView cells) : footprint_(footprint) {
    // What is further away than the array is large takes no part.
    const auto [first_frame, end_frame] =
        reachable(footprint.frames(), footprint.anchor_frame(), cells.frames);
    const auto [first_bin, end_bin] =
        reachable(footprint.bins(), footprint.anchor_bin(), cells.bins);
    for (std::size_t frame = first_frame; frame < end_frame; frame += kPartFrames) {
      for (std::size_t bin = first_bin; bin < end_bin; bin += kPartBins) {
        add_part(frame, std::min(frame + kPartFrames, end_frame), bin,
                 std::min(bin + kPartBins, end_bin));
      }
    }
  }

  std::vector<MaskPart> parts;
  std::vector<MaskRun> runs;

 private:
  static std::pair<std::size_t, std::size_t> reachable(std::size_t size, std::size_t anchor,
                                                       std::size_t cells) {
    return {anchor > cells ? anchor - cells : 0, std::min(size, anchor + cells)};
  }

  void add_part(std::size_t frame, std::size_t end_frame, std::size_t bin, std::size_t end_bin) {
    std::vector<MaskRun> of_level[kLevels];
    for (std::size_t f = frame; f < end_frame; ++f) {
      for (std::size_t b = bin; b < end_bin; ++b) {
        if (!footprint_.contains(f, b)) continue;
        const std::size_t begin = b;
        while (b < end_bin && footprint_.contains(f, b)) ++b;
        const int level = std::bit_width(b - begin) - 1;
        const std::size_t row = (f - frame) * kStride;
        const std::size_t first = row + begin - bin;
        const std::size_t second = row + b - bin - (std::size_t{1} << level);
        of_level[level].push_back(static_cast<MaskRun>(first | second << 16U));
      }
    }
    MaskPart part;
    part.frame = static_cast<int>(frame) - static_cast<int>(footprint_.anchor_frame());
    part.bin = static_cast<int>(bin) - static_cast<int>(footprint_.anchor_bin());
    part.frames = static_cast<int>(end_frame - frame);
    part.runs_begin = static_cast<int>(runs.size());
    for (int level = 0; level < kLevels; ++level) {
      runs.insert(runs.end(), of_level[level].begin(), of_level[level].end());
      part.runs_end[level] = static_cast<int>(runs.size());
    }
    if (part.runs_end[kLevels - 1] > part.runs_begin) parts.push_back(part);
  }

  const Footprint& footprint_;
};

/// Makes windows of 2 * half bins of those of `half` bins, in place; a warp has whole rows.
__device__ void double_windows(float* windows, int rows, int half) {
  constexpr int kSlots = kStride / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int r = static_cast<int>(threadIdx.x) / kWarp; r < rows; r += kWarps) {
    float* row = windows + r * kStride;
    float joined[kSlots];
#pragma unroll
    for (int k = 0; k < kSlots; ++k) {
      const int at = k * kWarp + lane;
      joined[k] = at + half < kStride ? fmaxf(row[at], row[at + half]) : row[at];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kSlots; ++k) row[k * kWarp + lane] = joined[k];
  }
}

/// A block writes a tile of maxima. For each part of the footprint it takes the cells that the part
/// reaches from the tile, makes their windows of each length in place, and takes the runs of that
/// length from there. So a footprint of any size needs the same shared memory.
__global__ void __launch_bounds__(kThreads)
    mask_kernel(const float* __restrict__ cells, int frames, int bins,
                const MaskPart* __restrict__ parts, int part_count,
                const MaskRun* __restrict__ all_runs, int row_tiles, float* __restrict__ maxima) {
  constexpr int kMyFrames = kTileFrames / kWarps;
  constexpr int kMyBins = kTileBins / kWarp;
  __shared__ float windows[(kTileFrames + kPartFrames) * kStride];
  __shared__ MaskRun runs[kMaxRuns];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int first_bin = static_cast<int>(blockIdx.x % static_cast<unsigned>(row_tiles)) * kTileBins;
  const int first_frame =
      static_cast<int>(blockIdx.x / static_cast<unsigned>(row_tiles)) * kTileFrames;
  float best[kMyFrames][kMyBins];
#pragma unroll
  for (auto& row : best) {
#pragma unroll
    for (float& value : row) value = -INFINITY;
  }

  for (int p = 0; p < part_count; ++p) {
    const MaskPart& part = parts[p];
    const int rows = kTileFrames + part.frames - 1;
    for (int r = warp; r < rows; r += kWarps) {
      const int frame = first_frame + part.frame + r;
      const float* row = cells + static_cast<std::ptrdiff_t>(frame) * bins;
#pragma unroll
      for (int k = 0; k < kStride / kWarp; ++k) {
        const int bin = first_bin + part.bin + k * kWarp + lane;
        const bool inside = frame >= 0 && frame < frames && bin >= 0 && bin < bins;
        windows[r * kStride + k * kWarp + lane] = inside ? row[bin] : -INFINITY;
      }
    }
    const int runs_begin = part.runs_begin;
    const int run_count = part.runs_end[kLevels - 1] - runs_begin;
    for (int k = static_cast<int>(threadIdx.x); k < run_count; k += kThreads) {
      runs[k] = all_runs[runs_begin + k];
    }
    __syncthreads();
    int k = 0;
    for (int level = 0; level < kLevels && k < run_count; ++level) {
      if (level > 0) {
        double_windows(windows, rows, 1 << (level - 1));
        __syncthreads();
      }
      for (const int end = part.runs_end[level] - runs_begin; k < end; ++k) {
        const float* one = windows + (runs[k] & 0xFFFFU) + warp * kStride + lane;
        const float* two = windows + (runs[k] >> 16U) + warp * kStride + lane;
#pragma unroll
        for (int f = 0; f < kMyFrames; ++f) {
#pragma unroll
          for (int b = 0; b < kMyBins; ++b) {
            const int at = f * kWarps * kStride + b * kWarp;
            best[f][b] = fmaxf(best[f][b], fmaxf(one[at], two[at]));
          }
        }
      }
      __syncthreads();
    }
  }

#pragma unroll
  for (int f = 0; f < kMyFrames; ++f) {
#pragma unroll
    for (int b = 0; b < kMyBins; ++b) {
      const int frame = first_frame + f * kWarps + warp;
      const int bin = first_bin + b * kWarp + lane;
      if (frame >= frames || bin >= bins) continue;
      maxima[static_cast<std::ptrdiff_t>(frame) * bins + bin] = best[f][b];
    }
  }
}

}  // namespace

void queue_mask_max(const std::shared_ptr<Context>& context, SpectrogramView cells,
                    const Footprint& footprint, float* maxima) {
  if (cells.frames == 0 || cells.bins == 0) return;
  const MaskPlan plan(footprint, cells);
  const Array<MaskPart> parts(context, std::span<const MaskPart>(plan.parts));
  const Array<MaskRun> runs(context, std::span<const MaskRun>(plan.runs));
  const std::size_t row_tiles = (cells.bins + kTileBins - 1) / kTileBins;
  const std::size_t tiles = row_tiles * ((cells.frames + kTileFrames - 1) / kTileFrames);
  launch(*context, mask_kernel, dim3(static_cast<unsigned>(tiles)), dim3(kThreads), 0, cells.cells,
         static_cast<int>(cells.frames), static_cast<int>(cells.bins), parts.data(),
         static_cast<int>(plan.parts.size()), runs.data(), static_cast<int>(row_tiles), maxima);
}

}  // namespace spintag::kernels::cuda
