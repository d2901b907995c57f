// fingerprint/cuda/batch_matcher.h - the CUDA side of BatchMatcher, as its host code sees it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fingerprint/batch_matcher.h"

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
};

/// @throws kernels::DeviceError in a program that was built without CUDA
std::unique_ptr<BatchMatcher> make_batch_matcher(kernels::Device& device);

}  // namespace spintag::fingerprint::cuda
