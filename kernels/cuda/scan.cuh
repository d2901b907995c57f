// kernels/cuda/scan.cuh - running sums in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/cuda/context.cuh"

namespace spintag::kernels::cuda {

/// begin[i] = counts[0] + ... + counts[i - 1] for i = 0 ... size, modulo 2^32. Queued, not waited
/// for.
/// @param counts  [size] device memory
/// @param begin   [size + 1] device memory; may be `counts`
/// @param total   device memory, receives the sum of all in 64 bits, so that a caller can tell when
/// 32 were too few; may be null
void exclusive_sums(const std::shared_ptr<Context>& context, const std::uint32_t* counts,
                    std::size_t size, std::uint32_t* begin, unsigned long long* total = nullptr);

}  // namespace spintag::kernels::cuda
