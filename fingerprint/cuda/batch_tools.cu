// fingerprint/cuda/batch_tools.cu - how a batch gets the places of its lists.
#include "fingerprint/cuda/batch_tools.cuh"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;
using kernels::cuda::launch;

__global__ void gather(const std::uint32_t* values, const std::uint32_t* places,
                       std::uint32_t count, std::uint32_t* out) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = values[places[i]];
}

}  // namespace

Places make_places(const ContextPointer& context, Array<std::uint32_t> counts,
                   const Array<std::uint32_t>& from_begin, std::uint32_t lists) {
  Places places;
  places.total = Array<unsigned long long>(context, 1);
  kernels::cuda::exclusive_sums(context, counts.data(), counts.size() - 1, counts.data(),
                                places.total.data());
  places.begin = Array<std::uint32_t>(context, lists + std::size_t{1});
  launch(*context, gather, blocks_for(lists + std::size_t{1}), kBlockThreads, 0, counts.data(),
         from_begin.data(), lists + 1, places.begin.data());
  places.of_value = std::move(counts);
  return places;
}

}  // namespace spintag::fingerprint::cuda
