// fingerprint/density_limit.h - of each second's peaks the strongest, in order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "fingerprint/peak.h"

namespace spintag::fingerprint {

/// Streaming stage: peaks go into waiting() frame by frame, and come out second by second.
class DensityLimit {
 public:
  /// Peaks that are not handed out yet; whoever finds peaks appends them here.
  std::vector<Peak>& waiting() { return waiting_; }

  /// Hands out the seconds that are complete: the first frame of the next one has been looked at.
  /// @param final_frames  frames whose peaks are in waiting() or handed out
  void release(std::int64_t final_frames, std::vector<Peak>& peaks);
  /// Hands out the rest.
  void finish(std::int64_t final_frames, std::vector<Peak>& peaks);
  void reset();

  /// The second that waiting() begins with; all before have been handed out.
  std::int64_t second() const { return second_; }

 private:
  void hand_out(std::vector<Peak>::iterator end, std::vector<Peak>& peaks);

  std::vector<Peak> waiting_;
  std::int64_t second_ = 0;
};

}  // namespace spintag::fingerprint
