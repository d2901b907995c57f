// fingerprint/batch_matcher.h - many windows looked up at once, on any device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fingerprint/index.h"
#include "fingerprint/matcher.h"
#include "fingerprint/peak.h"
#include "kernels/device.h"

namespace spintag::fingerprint {

/// One window of one query.
struct MatchQuery {
  std::span<const Peak> peaks;  ///< dense peaks in time order; those outside [start_s, end_s) are
                                ///< not looked at
  double start_s = 0;
  double end_s = 0;
};

/// Matcher::match() for many windows, with the same results from every device. On a CUDA device it
/// keeps what it was last asked about in device memory: shards that an index shares with the one
/// before are not copied again. One caller at a time.
class BatchMatcher {
 public:
  explicit BatchMatcher(kernels::Device& device);  ///< which must outlive this
  ~BatchMatcher();
  BatchMatcher(BatchMatcher&&) noexcept;
  BatchMatcher& operator=(BatchMatcher&&) noexcept;

  /// Brings the index to the device, so that the first match() does not have to.
  /// @throws kernels::DeviceError if it does not fit, with its size, before anything is allocated
  void load(const std::shared_ptr<const Index>& index);

  /// @return for each query what Matcher::match() gives
  /// @throws kernels::DeviceError if the device fails; another BatchMatcher on Device::cpu() can go
  /// on
  std::vector<std::vector<Alignment>> match(const std::shared_ptr<const Index>& index,
                                            std::span<const MatchQuery> queries,
                                            const MatchOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spintag::fingerprint
