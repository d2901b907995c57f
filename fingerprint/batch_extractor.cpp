// fingerprint/batch_extractor.cpp - a PeakExtractor for one recording after the other.
#include "fingerprint/batch_extractor.h"

#include "fingerprint/extractor.h"

namespace spintag::fingerprint {

std::vector<std::vector<Peak>> extract_peaks(kernels::Device&,
                                             std::span<const std::span<const float>> recordings) {
  std::vector<std::vector<Peak>> all(recordings.size());
  PeakExtractor extractor;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    extractor.reset();
    extractor.push(recordings[i], all[i]);
    extractor.finish(all[i]);
  }
  return all;
}

}  // namespace spintag::fingerprint
