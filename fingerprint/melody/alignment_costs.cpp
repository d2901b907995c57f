// fingerprint/melody/alignment_costs.cpp - one alignment after another on every core.
#include "fingerprint/melody/alignment_costs.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace spintag::fingerprint {

std::vector<float> alignment_costs(kernels::Device& device, const Contour& hum,
                                   std::span<const SungMelody> melodies,
                                   const NoteAlignmentParams& params, unsigned threads) {
  if (device.is_cuda() && hum.size() <= cuda::kMostAlignedFrames)
    return cuda::alignment_costs(device, hum, melodies, params);
  std::vector<float> costs(melodies.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    NoteAlignment alignment(hum, params);
    for (std::size_t i; (i = next++) < melodies.size();) {
      costs[i] = alignment.cost(*melodies[i].melody, melodies[i].from);
    }
  };
  const std::size_t cores = threads != 0 ? threads : std::thread::hardware_concurrency();
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(cores, melodies.size()); ++i) others.emplace_back(work);
  work();
  others.clear();
  return costs;
}

}  // namespace spintag::fingerprint
