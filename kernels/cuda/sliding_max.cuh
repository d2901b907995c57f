// kernels/cuda/sliding_max.cuh - the maximum over a footprint around every cell, in device memory.
#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/context.cuh"
#include "kernels/footprint.h"
#include "kernels/spectrogram_view.h"

namespace spintag::kernels::cuda {

/// Queues the sliding maximum and does not wait. Semantics of kernels::sliding_max().
/// @param cells   [frames, bins] in device memory
/// @param maxima  [frames, bins] in device memory, receives the result; not the cells' own memory
/// @throws DeviceError
void queue_sliding_max(const std::shared_ptr<Context>& context, SpectrogramView cells,
                       const Footprint& footprint, float* maxima);

/// @throws DeviceError if the kernels cannot count the frames or bins in 30 bits
void check_size(const Context& context, SpectrogramView cells);

/// Where each of several passes over an array writes, so that the last writes to `result` and none
/// to what it reads. Scratch is taken only if there are several.
class PassTargets {
 public:
  PassTargets(const std::shared_ptr<Context>& context, std::size_t size, int passes, float* result)
      : left_(passes), result_(result) {
    if (passes > 1) scratch_ = Array<float>(context, size);
  }

  float* next() { return --left_ % 2 == 0 ? result_ : scratch_.data(); }

 private:
  int left_;
  float* result_;
  Array<float> scratch_;
};

}  // namespace spintag::kernels::cuda
