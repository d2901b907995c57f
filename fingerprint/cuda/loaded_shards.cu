// fingerprint/cuda/loaded_shards.cu - what is missing goes to the device, if it fits.
#include "fingerprint/cuda/loaded_shards.cuh"

#include <cstdio>
#include <string>

namespace spintag::fingerprint::cuda {
namespace {

constexpr std::size_t kScratch = 512 << 20;  ///< bytes that a small batch needs besides the index

std::string gib(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace

void LoadedShards::load(const Index& index) {
  std::map<const std::uint32_t*, Loaded> kept;
  std::size_t missing = 0;
  for (const auto& shard : index.shards()) {
    const auto found = loaded_.extract(key_of(*shard));
    if (found.empty()) {
      missing += DeviceShard::bytes_needed(*shard);
    } else {
      kept.insert({found.key(), std::move(found.mapped())});
    }
  }
  loaded_ = std::move(kept);  // what the index no longer has makes room first
  if (missing == 0) return;
  const std::size_t free = context_->free_bytes();
  if (missing + kScratch > free) {
    throw kernels::DeviceError(context_->name() + ": the index needs " + gib(missing) +
                               " of its memory and " + gib(kScratch) + " to work in, and " +
                               gib(free) + " are free (try --device cpu)");
  }
  for (const auto& shard : index.shards()) {
    if (loaded_.contains(key_of(*shard))) continue;
    loaded_.emplace(key_of(*shard), Loaded{shard, DeviceShard(context_, *shard)});
  }
  context_->synchronize();
}

}  // namespace spintag::fingerprint::cuda
