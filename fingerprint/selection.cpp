// fingerprint/selection.cpp - windows one after the other on the processor.
#include "fingerprint/selection.h"

#include "fingerprint/cuda/lists.h"
#include "fingerprint/query_view.h"

namespace spintag::fingerprint {
namespace cpu {
namespace {

std::vector<std::vector<Peak>> select_strongest(std::span<const std::span<const Peak>> lists,
                                                std::span<const TimeRange> windows,
                                                int per_second) {
  std::vector<std::vector<Peak>> selected(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    fingerprint::select_strongest(lists[i], windows[i].start_s, windows[i].end_s, per_second,
                                  selected[i]);
  }
  return selected;
}

}  // namespace
}  // namespace cpu

std::vector<std::vector<Peak>> select_strongest(kernels::Device& device,
                                                std::span<const std::span<const Peak>> lists,
                                                std::span<const TimeRange> windows,
                                                int per_second) {
  return device.is_cuda() ? cuda::select_strongest(device, lists, windows, per_second)
                          : cpu::select_strongest(lists, windows, per_second);
}

}  // namespace spintag::fingerprint
