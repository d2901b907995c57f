// fingerprint/melody/resident_melodies.h - the contours of melodies where a device reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fingerprint/melody/melody_index.h"
#include "kernels/device.h"
#include "kernels/linear_scaling.h"
#include "kernels/resident.h"

namespace spintag::fingerprint {

/// The contours of an index as they were when this was made: some 7 KiB a minute of device memory,
/// and on the processor a view.
struct ResidentMelodies {
  /// @param index  outlives this
  /// @throws DeviceError if the device has no room for them
  ResidentMelodies(kernels::Device& device, const MelodyIndex& index)
      : context(device.shared_context()),
        melodies(index.size()),
        coarse(device, index.coarse()),
        fine(device, index.fine()) {}

  /// Whether they are that device's, and nothing was added to the index since.
  bool is_of(const kernels::Device& device, const MelodyIndex& index) const {
    return context == device.shared_context() && melodies == index.size();
  }

  std::shared_ptr<kernels::cuda::Context> context;
  std::size_t melodies;
  kernels::ResidentSequences coarse;
  kernels::Resident<std::int16_t> fine;
};

}  // namespace spintag::fingerprint
