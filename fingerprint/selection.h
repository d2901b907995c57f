// fingerprint/selection.h - the strongest peaks of many windows at once, on any device.
#pragma once

#include <span>
#include <vector>

#include "fingerprint/peak.h"
#include "kernels/device.h"

namespace spintag::fingerprint {

/// Seconds from the first sample.
struct TimeRange {
  double start_s = 0;
  double end_s = 0;  ///< beyond the last
};

/// What select_strongest() of query_view.h gives for each list and its window.
/// @param lists    peaks in time order
/// @param windows  as many
/// @return as many, in time order, the same from every device
/// @throws kernels::DeviceError if the device fails. One caller per Device at a time.
std::vector<std::vector<Peak>> select_strongest(kernels::Device& device,
                                                std::span<const std::span<const Peak>> lists,
                                                std::span<const TimeRange> windows, int per_second);

}  // namespace spintag::fingerprint
