// fingerprint/batch_extractor.h - many recordings' dense peaks at once, on any device.
#pragma once

#include <span>
#include <vector>

#include "fingerprint/heard.h"
#include "fingerprint/peak.h"
#include "kernels/device.h"

namespace spintag::fingerprint {

/// What PeakExtractor gives for each recording by itself. The CPU is PeakExtractor. A CUDA device
/// rounds its transform differently in the last bits, so that a level at a threshold may fall on
/// the other side of it; from the levels on, both compute the same bits.
/// @param recordings  mono, BroadcastProfile::rate_hz, full scale = 1; any lengths, empty ones too
/// @return as many, their peaks in order of (second, time)
/// @throws kernels::DeviceError if the device fails. One caller per Device at a time.
std::vector<Extraction> extract(kernels::Device& device,
                                std::span<const std::span<const float>> recordings, Wanted wanted);

/// The second half of extract(): what PeakFinder and DensityLimit make of levels, the same bits
/// from every device.
/// @param levels_db  of each recording, [frames, BinRange::count], finite; |level| < 2^22 dB
/// @throws kernels::DeviceError if the device fails. One caller per Device at a time.
std::vector<Extraction> find_dense_peaks(kernels::Device& device,
                                         std::span<const std::span<const float>> levels_db,
                                         Wanted wanted);

namespace cuda {

std::vector<Extraction> extract(kernels::Device& device,
                                std::span<const std::span<const float>> recordings, Wanted wanted);
std::vector<Extraction> find_dense_peaks(kernels::Device& device,
                                         std::span<const std::span<const float>> levels_db,
                                         Wanted wanted);

}  // namespace cuda
}  // namespace spintag::fingerprint
