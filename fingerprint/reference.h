// fingerprint/reference.h - what is kept of a reference recording: its packed peaks. Landmarks
// follow from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fingerprint/peak.h"
#include "kernels/device.h"

namespace spintag::fingerprint {

/// Packed peaks of one recording: 3 bytes a peak, in time order. This is what the store keeps and
/// the index is made of.
using PackedPeaks = std::vector<std::byte>;

/// Peaks without a stronger one near them in time and frequency.
/// @param dense  in time order
std::vector<Peak> stand_alone(std::span<const Peak> dense);

/// Thins dense peaks to the profile's reference density and packs them.
/// @param dense  peaks of a whole recording as PeakExtractor gave them, in time
/// order
PackedPeaks make_reference(std::span<const Peak> dense);

/// make_reference() of each recording, the same bytes from every device.
/// @throws kernels::DeviceError if the device fails. One caller per Device at a time.
std::vector<PackedPeaks> make_references(kernels::Device& device,
                                         std::span<const std::span<const Peak>> dense);

/// @return the peaks with from_s <= time_s < to_s, in time order
/// @throws std::invalid_argument if `packed` is not a whole number of peaks
std::vector<Peak> unpack_peaks(std::span<const std::byte> packed,
                               double from_s = -std::numeric_limits<double>::infinity(),
                               double to_s = std::numeric_limits<double>::infinity());

/// Landmarks (pairs of peaks) that the index will hold for this recording.
std::size_t count_landmarks(std::span<const std::byte> packed);

}  // namespace spintag::fingerprint
