// fingerprint/melody/alignment_costs.h - note_alignment.h for many melodies and starts at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fingerprint/melody/melody.h"
#include "fingerprint/melody/note_alignment.h"
#include "kernels/device.h"

namespace spintag::fingerprint {

/// A melody, and where in it a hum may have begun.
struct SungMelody {
  const Melody* melody = nullptr;
  SungFrom from;
};

/// @param hum      bridged, not empty
/// @param threads  of the processor; 0 = as many as it has cores
/// @return NoteAlignment::cost() of each, the same from every device
/// @throws DeviceError if the device fails
std::vector<float> alignment_costs(kernels::Device& device, const Contour& hum,
                                   std::span<const SungMelody> melodies,
                                   const NoteAlignmentParams& params = {}, unsigned threads = 0);

namespace cuda {

/// Frames that the device's kernel takes; the processor does what is more.
inline constexpr std::size_t kMostAlignedFrames = 512;

std::vector<float> alignment_costs(kernels::Device& device, const Contour& hum,
                                   std::span<const SungMelody> melodies,
                                   const NoteAlignmentParams& params);

}  // namespace cuda
}  // namespace spintag::fingerprint
