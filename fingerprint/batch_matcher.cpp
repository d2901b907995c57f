// fingerprint/batch_matcher.cpp - one window after the other on the processor, all at once on a
// CUDA device.
#include "fingerprint/batch_matcher.h"

#include "fingerprint/cuda/batch_matcher.h"

namespace spintag::fingerprint {

struct BatchMatcher::State {
  std::unique_ptr<cuda::BatchMatcher> cuda;  ///< null: the processor
  Matcher matcher;
};

BatchMatcher::BatchMatcher(kernels::Device& device) : state_(std::make_unique<State>()) {
  if (device.is_cuda()) state_->cuda = cuda::make_batch_matcher(device);
}
BatchMatcher::~BatchMatcher() = default;
BatchMatcher::BatchMatcher(BatchMatcher&&) noexcept = default;
BatchMatcher& BatchMatcher::operator=(BatchMatcher&&) noexcept = default;

void BatchMatcher::load(const std::shared_ptr<const Index>& index) {
  if (state_->cuda) state_->cuda->load(index);
}

MatchStages BatchMatcher::stages() const {
  return state_->cuda ? state_->cuda->stages() : MatchStages{};
}

std::vector<std::vector<Alignment>> BatchMatcher::match(const std::shared_ptr<const Index>& index,
                                                        std::span<const MatchQuery> queries,
                                                        const MatchOptions& options) {
  if (state_->cuda) return state_->cuda->match(index, queries, options);
  std::vector<std::vector<Alignment>> results;
  results.reserve(queries.size());
  for (const MatchQuery& query : queries) {
    results.push_back(
        state_->matcher.match(*index, query.heard, query.start_s, query.end_s, options));
  }
  return results;
}

}  // namespace spintag::fingerprint
