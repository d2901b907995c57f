// fingerprint/cuda/loaded_shards.cuh - the index that a batch matcher keeps in device memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "fingerprint/cuda/batch_tools.cuh"
#include "fingerprint/cuda/device_shard.cuh"
#include "fingerprint/index.h"
#include "fingerprint/index_shard.h"

namespace spintag::fingerprint::cuda {

/// The shards of the newest index that was asked about. A shard is known by its directory, which
/// copies of it without removed tracks share.
class LoadedShards {
 public:
  explicit LoadedShards(ContextPointer context) : context_(std::move(context)) {}

  /// @throws kernels::DeviceError with its size if the index does not fit, before it is copied
  void load(const Index& index);

  const DeviceShard& operator[](const IndexShard& shard) const {
    return loaded_.at(key_of(shard)).on_device;
  }

 private:
  struct Loaded {
    std::shared_ptr<const IndexShard> on_host;  ///< keeps the address that it is known by
    DeviceShard on_device;
  };
  static const std::uint32_t* key_of(const IndexShard& shard) {
    return shard.arrays().directory.data();
  }

  ContextPointer context_;
  std::map<const std::uint32_t*, Loaded> loaded_;
};

}  // namespace spintag::fingerprint::cuda
