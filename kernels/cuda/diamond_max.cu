// kernels/cuda/diamond_max.cu - sliding maximum over a diamond.
#include "kernels/cuda/diamond_max.cuh"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/cuda/diamond_strip.cuh"
#include "kernels/cuda/sliding_max.cuh"

namespace spintag::kernels::cuda {
namespace {

/// Radii that have a kernel of their own: for every other R up to twice the largest there is an r
/// among them with r <= R <= 2 r.
constexpr std::array kStripRadii{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};

constexpr int kMaxSegments = 65535;  // of a grid's second dimension

struct StripPlan {
  int width = 0;  ///< columns of a strip, with its margins
  int strips = 0;
  int segment_frames = 0;
  int segments = 0;
};

/// Narrow strips waste their margins, wide ones what lies beyond the last bin; short segments waste
/// their lead-in, long ones leave multiprocessors without work. Takes the width whose blocks, all
/// resident at once, have the least to do; rather several small blocks than two large ones, which
/// wait at their barriers together.
StripPlan plan_strips(int radius, int rows, int widest, int strips_per_multiprocessor,
                      int multiprocessors, int frames, int bins) {
  constexpr int kWarp = 32;
  const int threads = widest * strips_per_multiprocessor;
  StripPlan best;
  double least = 0;
  for (int width = kWarp; width <= widest; width += kWarp) {
    const int usable = width - 2 * radius;
    if (usable <= 0 || width < 2 * rows) continue;
    StripPlan plan;
    plan.width = width;
    plan.strips = (bins + usable - 1) / usable;
    const int together = std::max(threads / width, 1);  // on a multiprocessor
    const int resident = multiprocessors * together;
    const int wanted = std::clamp(resident / plan.strips, 1, kMaxSegments);
    const int shortest = std::max(radius, 8);  // below it a segment is mostly lead-in
    plan.segment_frames = std::max((frames + wanted - 1) / wanted, shortest);
    plan.segments = (frames + plan.segment_frames - 1) / plan.segment_frames;
    const double waves = std::ceil(static_cast<double>(plan.strips) * plan.segments / resident);
    const int marched = (plan.segment_frames + 2 * radius + rows - 1) / rows * rows;
    // A multiprocessor that is not full is only partly faster for it.
    const double busy = (width * together + threads) / 2.0;
    const double cost = waves * marched * busy * (1 + 0.25 / together);
    if (best.width == 0 || cost < least) {
      best = plan;
      least = cost;
    }
  }
  return best;
}

template <int kRadius>
void launch_strips(const Context& context, SpectrogramView cells, float* maxima) {
  using Shape = DiamondShape<kRadius>;
  const int frames = static_cast<int>(cells.frames);
  const int bins = static_cast<int>(cells.bins);
  const StripPlan plan = plan_strips(kRadius, Shape::kRows, Shape::kWidest, Shape::kStrips,
                                     context.multiprocessors(), frames, bins);
  const std::size_t shared = 2 * sizeof(float) * Shape::kRows * static_cast<unsigned>(plan.width);
  launch(context, diamond_strip_kernel<kRadius>,
         dim3(static_cast<unsigned>(plan.strips), static_cast<unsigned>(plan.segments)),
         dim3(static_cast<unsigned>(plan.width)), shared, cells.cells, frames, bins,
         plan.segment_frames, maxima);
}

template <std::size_t... kIndex>
void launch_strips_of(int radius, const Context& context, SpectrogramView cells, float* maxima,
                      std::index_sequence<kIndex...>) {
  ((radius == kStripRadii[kIndex] ? launch_strips<kStripRadii[kIndex]>(context, cells, maxima)
                                  : void()),
   ...);
}

/// The maximum over a diamond of radius R + reach from that over one of radius R >= reach: four
/// diamonds of radius R, moved by `reach` each way, cover it. At the array's edges they move as far
/// as it goes, and still cover what there is.
__global__ void __launch_bounds__(256)
    widen_kernel(const float* __restrict__ cells, int frames, int bins, int reach, int row_blocks,
                 float* __restrict__ maxima) {
  constexpr int kFrames = 4;
  const int bin = static_cast<int>(blockIdx.x % static_cast<unsigned>(row_blocks)) * 256 +
                  static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x / static_cast<unsigned>(row_blocks)) * kFrames;
  if (bin >= bins) return;
  const auto cell = [&](int frame, int b) {
    return cells[static_cast<std::ptrdiff_t>(frame) * bins + b];
  };
  float best[kFrames];
#pragma unroll
  for (int j = 0; j < kFrames; ++j) {
    const int frame = min(first + j, frames - 1);
    best[j] =
        fmaxf(fmaxf(cell(max(frame - reach, 0), bin), cell(min(frame + reach, frames - 1), bin)),
              fmaxf(cell(frame, max(bin - reach, 0)), cell(frame, min(bin + reach, bins - 1))));
  }
#pragma unroll
  for (int j = 0; j < kFrames; ++j) {
    if (first + j >= frames) break;
    maxima[static_cast<std::ptrdiff_t>(first + j) * bins + bin] = fmaxf(best[j], -INFINITY);
  }
}

void widen(const Context& context, SpectrogramView cells, const float* from, int reach, float* to) {
  constexpr unsigned kThreads = 256;
  constexpr unsigned kFrames = 4;
  const auto row_blocks = static_cast<unsigned>((cells.bins + kThreads - 1) / kThreads);
  const auto blocks = row_blocks * static_cast<unsigned>((cells.frames + kFrames - 1) / kFrames);
  launch(context, widen_kernel, dim3(blocks), dim3(kThreads), 0, from,
         static_cast<int>(cells.frames), static_cast<int>(cells.bins), reach,
         static_cast<int>(row_blocks), to);
}

}  // namespace

void queue_diamond_max(const std::shared_ptr<Context>& context, SpectrogramView cells,
                       std::size_t radius, float* maxima) {
  if (cells.frames == 0 || cells.bins == 0) return;
  // From there on every cell sees every other.
  const int wanted = static_cast<int>(std::min(radius, cells.frames + cells.bins - 2));
  if (wanted == 0) return widen(*context, cells, cells.cells, 0, maxima);

  int widenings = 0;
  while ((kStripRadii.back() << widenings) < wanted) ++widenings;
  const auto own = std::find(kStripRadii.begin(), kStripRadii.end(), wanted);
  if (own == kStripRadii.end()) widenings = std::max(widenings, 1);
  const int smallest = (wanted + (1 << widenings) - 1) >> widenings;
  int reached = *std::find_if(kStripRadii.begin(), kStripRadii.end(),
                              [smallest](int r) { return r >= smallest; });

  PassTargets targets(context, cells.frames * cells.bins, 1 + widenings, maxima);
  float* to = targets.next();
  launch_strips_of(reached, *context, cells, to, std::make_index_sequence<kStripRadii.size()>());
  for (; widenings > 0; --widenings) {
    const float* from = to;
    const int reach = std::min(reached, wanted - reached);
    to = targets.next();
    widen(*context, cells, from, reach, to);
    reached += reach;
  }
}

}  // namespace spintag::kernels::cuda
