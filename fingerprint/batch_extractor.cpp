// fingerprint/batch_extractor.cpp - a PeakExtractor for one recording after the other, or a CUDA
// device for all.
#include "fingerprint/batch_extractor.h"

#include "fingerprint/density_limit.h"
#include "fingerprint/extractor.h"
#include "fingerprint/peak_finder.h"

namespace spintag::fingerprint {
namespace {

using Lists = std::vector<std::vector<Peak>>;
using Arrays = std::span<const std::span<const float>>;

Lists extract_on_cpu(Arrays recordings) {
  Lists lists(recordings.size());
  PeakExtractor extractor;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    extractor.reset();
    extractor.push(recordings[i], lists[i]);
    extractor.finish(lists[i]);
  }
  return lists;
}

Lists find_on_cpu(Arrays levels_db) {
  Lists lists(levels_db.size());
  PeakFinder finder;
  DensityLimit limit;
  for (std::size_t i = 0; i < levels_db.size(); ++i) {
    finder.reset();
    limit.reset();
    auto rows = levels_db[i];
    for (; rows.size() >= BinRange::count; rows = rows.subspan(BinRange::count)) {
      finder.push(rows.first(BinRange::count), limit.waiting());
      limit.release(finder.final_frames(), lists[i]);
    }
    finder.finish(limit.waiting());
    limit.finish(finder.final_frames(), lists[i]);
  }
  return lists;
}

}  // namespace

Lists extract_peaks(kernels::Device& device, Arrays recordings) {
  return device.is_cuda() ? cuda::extract_peaks(device, recordings) : extract_on_cpu(recordings);
}

Lists find_dense_peaks(kernels::Device& device, Arrays levels_db) {
  return device.is_cuda() ? cuda::find_dense_peaks(device, levels_db) : find_on_cpu(levels_db);
}

}  // namespace spintag::fingerprint
