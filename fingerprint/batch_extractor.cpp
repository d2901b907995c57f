// fingerprint/batch_extractor.cpp - a PeakExtractor for one recording after the other, or a CUDA
// device for all.
#include "fingerprint/batch_extractor.h"

#include "fingerprint/density_limit.h"
#include "fingerprint/extractor.h"
#include "fingerprint/peak_finder.h"

namespace spintag::fingerprint {
namespace {

using Extractions = std::vector<Extraction>;
using Arrays = std::span<const std::span<const float>>;

Extractions extract_on_cpu(Arrays recordings, Wanted wanted) {
  Extractions all(recordings.size());
  PeakExtractor extractor;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    LevelMap* const levels = wanted == Wanted::peaks ? nullptr : &all[i].levels;
    extractor.reset();
    extractor.push(recordings[i], all[i].peaks, levels);
    extractor.finish(all[i].peaks, levels);
  }
  return all;
}

Extractions find_on_cpu(Arrays levels_db, Wanted wanted) {
  Extractions all(levels_db.size());
  PeakFinder finder;
  DensityLimit limit;
  for (std::size_t i = 0; i < levels_db.size(); ++i) {
    LevelMap* const levels = wanted == Wanted::peaks ? nullptr : &all[i].levels;
    finder.reset();
    limit.reset();
    auto rows = levels_db[i];
    for (; rows.size() >= BinRange::count; rows = rows.subspan(BinRange::count)) {
      finder.push(rows.first(BinRange::count), limit.waiting(), levels);
      limit.release(finder.final_frames(), all[i].peaks);
    }
    finder.finish(limit.waiting(), levels);
    limit.finish(finder.final_frames(), all[i].peaks);
  }
  return all;
}

}  // namespace

Extractions extract(kernels::Device& device, Arrays recordings, Wanted wanted) {
  return device.is_cuda() ? cuda::extract(device, recordings, wanted)
                          : extract_on_cpu(recordings, wanted);
}

Extractions find_dense_peaks(kernels::Device& device, Arrays levels_db, Wanted wanted) {
  return device.is_cuda() ? cuda::find_dense_peaks(device, levels_db, wanted)
                          : find_on_cpu(levels_db, wanted);
}

}  // namespace spintag::fingerprint
