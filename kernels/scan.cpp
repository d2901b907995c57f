// kernels/scan.cpp - running sums on the processor.
#include "kernels/scan.h"

namespace spintag::kernels {
namespace cpu {
namespace {

std::vector<std::uint32_t> exclusive_sums(std::span<const std::uint32_t> counts) {
  std::vector<std::uint32_t> sums{0};
  sums.reserve(counts.size() + 1);
  for (const std::uint32_t count : counts) sums.push_back(sums.back() + count);
  return sums;
}

}  // namespace
}  // namespace cpu

std::vector<std::uint32_t> exclusive_sums(Device& device, std::span<const std::uint32_t> counts) {
  return device.is_cuda() ? cuda::exclusive_sums(device, counts) : cpu::exclusive_sums(counts);
}

}  // namespace spintag::kernels
