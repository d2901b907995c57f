// kernels/cuda/scan.cu - running sums: of each tile, of the tiles' sums, and within the tiles.
#include "kernels/cuda/scan.cuh"

#include "kernels/scan.h"

namespace spintag::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarps = kThreads / 32;
constexpr unsigned kEach = 8;  ///< consecutive values of a thread
constexpr std::size_t kTile = std::size_t{kThreads} * kEach;
constexpr unsigned kFull = 0xFFFFFFFFU;

/// A thread's values; 0 beyond the end.
struct Values {
  __device__ Values(const std::uint32_t* counts, std::size_t size, std::size_t first) {
#pragma unroll
    for (unsigned k = 0; k < kEach; ++k) value[k] = first + k < size ? counts[first + k] : 0;
  }
  std::uint32_t value[kEach];
};

__device__ std::size_t first_of_thread() {
  return blockIdx.x * kTile + std::size_t{threadIdx.x} * kEach;
}

__global__ void __launch_bounds__(kThreads)
    sum_tiles(const std::uint32_t* counts, std::size_t size, std::uint32_t* sums,
              unsigned long long* total) {
  __shared__ unsigned long long of_warp[kWarps];
  const Values values(counts, size, first_of_thread());
  unsigned long long sum = 0;
#pragma unroll
  for (const std::uint32_t value : values.value) sum += value;
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kFull, sum, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < kWarps; ++warp) sum += of_warp[warp];
  sums[blockIdx.x] = static_cast<std::uint32_t>(sum);
  if (total != nullptr && sum != 0) atomicAdd(total, sum);
}

/// @param bases  [tiles] sum before each tile; null if there is one tile
__global__ void __launch_bounds__(kThreads)
    sum_within_tiles(const std::uint32_t* counts, std::size_t size, const std::uint32_t* bases,
                     std::uint32_t* begin) {
  __shared__ std::uint32_t of_warp[kWarps];
  const std::size_t first = first_of_thread();
  const Values values(counts, size, first);
  std::uint32_t own = 0;
#pragma unroll
  for (const std::uint32_t value : values.value) own += value;
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t inclusive = own;
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t before = __shfl_up_sync(kFull, inclusive, step);
    if (lane >= step) inclusive += before;
  }
  if (lane == 31) of_warp[threadIdx.x / 32] = inclusive;
  __syncthreads();  // which also lets `begin` be `counts`: the tile has been read
  std::uint32_t sum = bases == nullptr ? 0 : bases[blockIdx.x];
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) sum += of_warp[warp];
  sum += inclusive - own;
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    if (first + k <= size) begin[first + k] = sum;
    sum += values.value[k];
  }
}

}  // namespace

void exclusive_sums(const std::shared_ptr<Context>& context, const std::uint32_t* counts,
                    std::size_t size, std::uint32_t* begin, unsigned long long* total) {
  // One place more than there are values: the last tile writes the sum of all.
  const auto tiles = static_cast<unsigned>(size / kTile + 1);
  Array<std::uint32_t> bases;
  if (total != nullptr) {
    context->check(cudaMemsetAsync(total, 0, sizeof *total, context->stream()), "filling memory");
  }
  if (tiles > 1 || total != nullptr) {
    bases = Array<std::uint32_t>(context, tiles + std::size_t{1});
    launch(*context, sum_tiles, tiles, kThreads, 0, counts, size, bases.data(), total);
    if (tiles > 1) exclusive_sums(context, bases.data(), tiles, bases.data());
  }
  launch(*context, sum_within_tiles, tiles, kThreads, 0, counts, size,
         tiles > 1 ? bases.data() : nullptr, begin);
}

std::vector<std::uint32_t> exclusive_sums(Device& device, std::span<const std::uint32_t> counts) {
  const auto& context = device.shared_context();
  context->make_current();
  const Array<std::uint32_t> values(context, counts);
  const Array<std::uint32_t> sums(context, counts.size() + 1);
  exclusive_sums(context, values.data(), counts.size(), sums.data());
  return sums.download();
}

}  // namespace spintag::kernels::cuda
