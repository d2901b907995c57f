// fingerprint/density_limit.cpp - of each second's peaks the strongest, in order of time.
#include "fingerprint/density_limit.h"

#include <algorithm>

#include "fingerprint/peak_order.h"
#include "fingerprint/profile.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

/// Time of a frame's centre.
double frame_time(std::int64_t frame) {
  return static_cast<double>(frame) * Profile::frame_s() +
         0.5 * Profile::frame_samples / Profile::rate_hz;
}

}  // namespace

void DensityLimit::release(std::int64_t final_frames, std::vector<Peak>& peaks) {
  constexpr double kHalfFrame = 0.5 * Profile::frame_s();
  while (frame_time(final_frames) - kHalfFrame >= static_cast<double>(second_ + 1)) {
    const auto end = std::partition(waiting_.begin(), waiting_.end(), [this](const Peak& peak) {
      return peak.time_s < static_cast<double>(second_ + 1);
    });
    hand_out(end, peaks);
    ++second_;
  }
}

void DensityLimit::finish(std::int64_t final_frames, std::vector<Peak>& peaks) {
  release(final_frames, peaks);
  hand_out(waiting_.end(), peaks);
}

void DensityLimit::reset() {
  waiting_.clear();
  second_ = 0;
}

/// Hands out the strongest of waiting_[0, end), in time order.
void DensityLimit::hand_out(std::vector<Peak>::iterator end, std::vector<Peak>& peaks) {
  const auto begin = waiting_.begin();
  auto kept = end;
  if (end - begin > Profile::dense_peaks_per_s) {
    kept = begin + Profile::dense_peaks_per_s;
    std::nth_element(begin, kept, end, is_stronger);
  }
  std::sort(begin, kept, is_earlier);
  peaks.insert(peaks.end(), begin, kept);
  waiting_.erase(begin, end);
}

}  // namespace spintag::fingerprint
