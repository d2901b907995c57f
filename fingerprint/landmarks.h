// fingerprint/landmarks.h - pairs of peaks and the hashes made of them.
// Source: A. Wang, ISMIR 2003, "Fast Combinatorial Hashing"; the frequency scale is this project's
// own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/peak.h"
#include "fingerprint/portable_math.h"
#include "fingerprint/profile.h"
#include "kernels/device.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

/// u(f) = 600 ln(1 + f / 1000 Hz): neither linear nor logarithmic, because the error of a peak is
/// constant in hertz and the error of a coarse pitch hypothesis is proportional to frequency. One
/// unit is 1.7 Hz + 0.17 % of f. For f above -1000 Hz.
SPINTAG_HOST_DEVICE inline double frequency_to_u(double freq_hz) {
  return BroadcastProfile::scale * portable_log(1 + freq_hz / BroadcastProfile::scale_corner_hz);
}

/// One landmark of a reference.
struct Landmark {
  std::uint32_t hash = 0;  ///< BroadcastProfile::hash_bits bits
  double anchor_time_s = 0;
};

/// The landmarks of a reference: each anchor with the strongest targets of its zone.
/// @param peaks  reference peaks in time order, as unpack_peaks() gives them
/// @param out    receives them by anchor, appended
void make_reference_landmarks(std::span<const Peak> peaks, std::vector<Landmark>& out);

/// What a query asks the index for: one pair of peaks may ask several neighbouring hashes. Two
/// hashes that differ in the time difference alone are one probe of two consecutive values.
struct Probe {
  static constexpr double kSteps = 250;  ///< of a second
  std::uint32_t hash = 0;                ///< first hash
  std::uint16_t count = 1;               ///< 1, or 2 when hash + 1 is asked too
  std::uint16_t anchor_step =
      0;  ///< reference time (tempo applied) from `origin_s`, in steps of 4 ms
};

/// How near to the boundary of its bin a value of a query must lie for the neighbour to be asked
/// too, in bins; below 0.5.
struct Softness {
  double u = 0.3;
  double dt = 0.3;
};

/// Every pair in the target zone, warped to the reference's tempo and pitch before it is hashed.
/// @param peaks      query peaks in time order
/// @param origin_s   query time that anchor times count from; peaks lie at most 262 s after it
/// @param out        receives the probes, appended
void make_query_probes(std::span<const Peak> peaks, double origin_s, const Hypothesis& hypothesis,
                       const Softness& soft, std::vector<Probe>& out);

/// make_reference_landmarks() of each list, the same from every device.
/// @throws kernels::DeviceError if the device fails. One caller per Device at a time.
std::vector<std::vector<Landmark>> make_reference_landmarks(
    kernels::Device& device, std::span<const std::span<const Peak>> lists);

/// make_query_probes() of each list with its origin, the same from every device.
/// @param origins_s  as many as lists
/// @throws kernels::DeviceError if the device fails. One caller per Device at a time.
std::vector<std::vector<Probe>> make_query_probes(kernels::Device& device,
                                                  std::span<const std::span<const Peak>> lists,
                                                  std::span<const double> origins_s,
                                                  const Hypothesis& hypothesis,
                                                  const Softness& soft);

}  // namespace spintag::fingerprint
