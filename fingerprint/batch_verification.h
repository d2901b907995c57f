// fingerprint/batch_verification.h - many alignments of many windows settled and verified at once,
// with the same bits from every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/peak.h"
#include "fingerprint/verification.h"
#include "kernels/device.h"

namespace spintag::fingerprint {

/// One window of one query.
struct VerifyWindow {
  std::span<const Peak> peaks;  ///< as select_strongest() gives them for it
  double start_s = 0;
  double end_s = 0;
};

/// One alignment of a window.
struct VerifyRequest {
  std::uint32_t window = 0;           ///< number in the list of windows
  std::span<const std::byte> packed;  ///< the track's PackedPeaks
  Fit fit;
};

/// What settle_offset() makes of an alignment.
struct Settled {
  Fit fit;
  int coincidences = 0;
};

/// settle_offset() of every request, on its window.
/// @throws std::invalid_argument if a request names no window or its packed peaks are not whole
/// @throws kernels::DeviceError if the device fails, or a window or the reference it meets is far
/// larger than audio gives; Device::cpu() takes those too. One caller per Device at a time.
std::vector<Settled> settle_offsets(kernels::Device& device, std::span<const VerifyWindow> windows,
                                    std::span<const VerifyRequest> requests);

/// verify() of every request, on its window; throws like settle_offsets().
std::vector<Verdict> verify(kernels::Device& device, std::span<const VerifyWindow> windows,
                            std::span<const VerifyRequest> requests, bool refine = true);

namespace cuda {

std::vector<Settled> settle_offsets(kernels::Device& device, std::span<const VerifyWindow> windows,
                                    std::span<const VerifyRequest> requests);
std::vector<Verdict> verify(kernels::Device& device, std::span<const VerifyWindow> windows,
                            std::span<const VerifyRequest> requests, bool refine);

}  // namespace cuda
}  // namespace spintag::fingerprint
