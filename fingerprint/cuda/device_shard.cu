// fingerprint/cuda/device_shard.cu - copies a shard to the device.
#include "fingerprint/cuda/device_shard.cuh"

#include <limits>

namespace spintag::fingerprint::cuda {

DeviceShard::DeviceShard(const std::shared_ptr<kernels::cuda::Context>& context,
                         const IndexShard& shard)
    : directory(context, shard.arrays().directory),
      words(context, shard.arrays().words),
      packed(context, shard.arrays().packed),
      units(shard.arrays().units),
      keys_per_bucket(IndexShard::keys_per_bucket(units)),
      reciprocal(std::numeric_limits<std::uint64_t>::max() / keys_per_bucket + 1) {}

std::size_t DeviceShard::bytes_needed(const IndexShard& shard) {
  const ShardArrays& arrays = shard.arrays();
  return arrays.directory.size_bytes() + arrays.words.size_bytes() + arrays.packed.size_bytes();
}

}  // namespace spintag::fingerprint::cuda
