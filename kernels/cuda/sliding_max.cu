// kernels/cuda/sliding_max.cu - the maximum over a footprint around every cell, on a CUDA device.
#include "kernels/cuda/sliding_max.cuh"

#include <span>

#include "kernels/cuda/box_max.cuh"
#include "kernels/cuda/diamond_max.cuh"
#include "kernels/cuda/mask_max.cuh"
#include "kernels/sliding_max.h"

namespace spintag::kernels::cuda {

void check_size(const Context& context, SpectrogramView cells) {
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  if (cells.frames <= kMost && cells.bins <= kMost) return;
  throw DeviceError(context.name() + ": a spectrogram of " + std::to_string(cells.frames) + " x " +
                    std::to_string(cells.bins) + " cells is too large (try --device cpu)");
}

void queue_sliding_max(const std::shared_ptr<Context>& context, SpectrogramView cells,
                       const Footprint& footprint, float* maxima) {
  check_size(*context, cells);
  switch (footprint.shape()) {
    case Footprint::Shape::kBox:
      return queue_box_max(context, cells, footprint.anchor_frame(), footprint.anchor_bin(),
                           maxima);
    case Footprint::Shape::kDiamond:
      return queue_diamond_max(context, cells, footprint.anchor_frame(), maxima);
    case Footprint::Shape::kMask:
      return queue_mask_max(context, cells, footprint, maxima);
  }
}

void sliding_max(Device& device, SpectrogramView spectrogram, const Footprint& footprint,
                 std::span<float> maxima) {
  const auto& context = device.shared_context();
  context->make_current();
  const std::size_t size = spectrogram.frames * spectrogram.bins;
  const Array<float> cells(context, std::span<const float>(spectrogram.cells, size));
  const Array<float> result(context, size);
  queue_sliding_max(context, {cells.data(), spectrogram.frames, spectrogram.bins}, footprint,
                    result.data());
  result.download(maxima.first(size));
}

}  // namespace spintag::kernels::cuda
