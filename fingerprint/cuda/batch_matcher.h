// fingerprint/cuda/batch_matcher.h - the CUDA side of votes and of BatchMatcher, as host code sees
// it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fingerprint/batch_matcher.h"
#include "fingerprint/votes.h"

namespace spintag::fingerprint::cuda {

/// One call costs a batch of launches: a virtual call is nothing beside it, and a program without
/// CUDA links without any of it.
class BatchMatcher {
 public:
  virtual ~BatchMatcher() = default;
  virtual void load(const std::shared_ptr<const Index>& index) = 0;
  virtual std::vector<std::vector<Alignment>> match(const std::shared_ptr<const Index>& index,
                                                    std::span<const MatchQuery> queries,
                                                    const MatchOptions& options) = 0;
  virtual MatchStages stages() const = 0;
};

/// @throws kernels::DeviceError in a program that was built without CUDA
std::unique_ptr<BatchMatcher> make_batch_matcher(kernels::Device& device);

/// Takes the shard to the device for this one call.
std::vector<std::vector<Nomination>> count_votes(kernels::Device& device, const IndexShard& shard,
                                                 std::span<const std::span<const Probe>> windows,
                                                 std::uint32_t fewest, std::size_t most,
                                                 std::uint32_t longest_bucket);

}  // namespace spintag::fingerprint::cuda
