// fingerprint/cuda/device_shard.cuh - one shard of the index in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fingerprint/index_shard.h"
#include "kernels/cuda/context.cuh"

namespace spintag::fingerprint::cuda {

/// The arrays of an IndexShard that matching reads. Which tracks were removed is left to the host.
struct DeviceShard {
  /// Copies the arrays. @throws kernels::DeviceError
  DeviceShard(const std::shared_ptr<kernels::cuda::Context>& context, const IndexShard& shard);

  static std::size_t bytes_needed(const IndexShard& shard);

  kernels::cuda::Array<std::uint32_t> directory;  ///< [buckets + 1]
  kernels::cuda::Array<std::uint32_t> words;
  kernels::cuda::Array<std::byte> packed;  ///< of all tracks, ShardTrack::packed_begin into it
  std::uint32_t units = 0;                 ///< T
  std::uint32_t keys_per_bucket = 1;       ///< D
  std::uint64_t reciprocal = 0;            ///< of D, as IndexShard::place() uses it
};

}  // namespace spintag::fingerprint::cuda
