// fingerprint/batch_matcher.h - many windows looked up at once, on any device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fingerprint/heard.h"
#include "fingerprint/index.h"
#include "fingerprint/matcher.h"
#include "fingerprint/peak.h"
#include "kernels/device.h"

namespace spintag::fingerprint {

/// One window of one query.
struct MatchQuery {
  Heard heard;  ///< peaks outside [start_s, end_s) are not looked at
  double start_s = 0;
  double end_s = 0;
};

/// Where the time of a BatchMatcher on a CUDA device went since it was made; zeros on the CPU.
struct MatchStages {
  double load_s = 0;        ///< the index to the device
  double select_s = 0;      ///< windows to the device, their strongest peaks and views
  double probe_s = 0;       ///< pairs hashed
  double vote_count_s = 0;  ///< the three sweeps of a vote: where votes go,
  double vote_throw_s = 0;  ///< putting them there,
  double vote_tally_s = 0;  ///< and adding them up
  double verify_s = 0;      ///< offsets settled, alignments verified
  double host_s = 0;        ///< decisions between stages
  std::uint64_t votes = 0;
  std::uint64_t recounts = 0;  ///< votes that had to be added up once more
  std::uint64_t searches = 0;  ///< of windows: a window that stays unknown makes several
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

  MatchStages stages() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spintag::fingerprint
