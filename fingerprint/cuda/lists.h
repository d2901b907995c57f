// fingerprint/cuda/lists.h - the CUDA side of what is made of several lists of peaks, as host code
// sees it. What each function does stands with its twin.
#pragma once

#include <span>
#include <vector>

#include "fingerprint/dejavu.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/peak.h"
#include "fingerprint/reference.h"
#include "fingerprint/selection.h"
#include "kernels/device.h"

namespace spintag::fingerprint::cuda {

std::vector<std::vector<Peak>> select_strongest(kernels::Device& device,
                                                std::span<const std::span<const Peak>> lists,
                                                std::span<const TimeRange> windows, int per_second);

std::vector<std::vector<Probe>> make_query_probes(kernels::Device& device,
                                                  std::span<const std::span<const Peak>> lists,
                                                  std::span<const double> origins_s,
                                                  const Hypothesis& hypothesis,
                                                  const Softness& soft);

std::vector<PackedPeaks> make_references(kernels::Device& device,
                                         std::span<const std::span<const Peak>> dense);

std::vector<std::vector<Landmark>> make_reference_landmarks(
    kernels::Device& device, std::span<const std::span<const Peak>> lists);

std::vector<std::vector<DejavuLandmark>> dejavu_landmarks(
    kernels::Device& device, std::span<const std::span<const kernels::Peak>> lists,
    const DejavuProfile& profile);

}  // namespace spintag::fingerprint::cuda
