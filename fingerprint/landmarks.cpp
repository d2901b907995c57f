// fingerprint/landmarks.cpp - pairs of peaks on the processor.
#include "fingerprint/landmarks.h"

#include "fingerprint/cuda/lists.h"
#include "fingerprint/landmark_math.h"

namespace spintag::fingerprint {

using namespace landmark_math;

void make_reference_landmarks(std::span<const Peak> peaks, std::vector<Landmark>& out) {
  std::vector<double> u(peaks.size());
  for (std::size_t i = 0; i < peaks.size(); ++i) u[i] = frequency_to_u(peaks[i].freq_hz);
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    BestTargets best;
    for (std::size_t j = i + 1; j < peaks.size(); ++j) {
      const double dt = peaks[j].time_s - peaks[i].time_s;
      if (dt > Profile::max_dt_s) break;
      if (in_zone(dt, u[i], u[j])) best.add(static_cast<std::uint32_t>(j), peaks[j].salience_db);
    }
    for (int k = 0; k < best.found; ++k) {
      const std::size_t j = best.index[k];
      std::uint32_t hash = 0;
      if (reference_hash(u[i], u[j], peaks[j].time_s - peaks[i].time_s, hash)) {
        out.push_back({hash, peaks[i].time_s});
      }
    }
  }
}

void make_query_probes(std::span<const Peak> peaks, double origin_s, const Hypothesis& hypothesis,
                       const Softness& soft, std::vector<Probe>& out) {
  std::vector<ProbePeak> warped;
  warped.reserve(peaks.size());
  for (const Peak& peak : peaks) warped.push_back(warp(peak, origin_s, hypothesis, soft.u));
  for (std::size_t i = 0; i < warped.size(); ++i) {
    const ProbePeak& anchor = warped[i];
    const SoftBin bins = fitting(anchor.bins);
    const std::uint16_t step = anchor_step(anchor.time_s);
    for (std::size_t j = i + 1; j < warped.size(); ++j) {
      const double dt = warped[j].time_s - anchor.time_s;
      if (dt > Profile::max_dt_s) break;
      if (!in_zone(dt, anchor.u, warped[j].u)) continue;
      const ProbeTime time(dt, soft.dt);
      const SoftBin targets = warped[j].bins;
      for (int a = bins.first; a <= bins.last; ++a) {
        for (int b = targets.first; b <= targets.last; ++b) {
          out.push_back({pack(a, b - a, time.first), time.count, step});
        }
      }
    }
  }
}

namespace cpu {
namespace {

std::vector<std::vector<Landmark>> make_reference_landmarks(
    std::span<const std::span<const Peak>> lists) {
  std::vector<std::vector<Landmark>> landmarks(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i)
    fingerprint::make_reference_landmarks(lists[i], landmarks[i]);
  return landmarks;
}

std::vector<std::vector<Probe>> make_query_probes(std::span<const std::span<const Peak>> lists,
                                                  std::span<const double> origins_s,
                                                  const Hypothesis& hypothesis,
                                                  const Softness& soft) {
  std::vector<std::vector<Probe>> probes(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i)
    fingerprint::make_query_probes(lists[i], origins_s[i], hypothesis, soft, probes[i]);
  return probes;
}

}  // namespace
}  // namespace cpu

std::vector<std::vector<Landmark>> make_reference_landmarks(
    kernels::Device& device, std::span<const std::span<const Peak>> lists) {
  return device.is_cuda() ? cuda::make_reference_landmarks(device, lists)
                          : cpu::make_reference_landmarks(lists);
}

std::vector<std::vector<Probe>> make_query_probes(kernels::Device& device,
                                                  std::span<const std::span<const Peak>> lists,
                                                  std::span<const double> origins_s,
                                                  const Hypothesis& hypothesis,
                                                  const Softness& soft) {
  return device.is_cuda() ? cuda::make_query_probes(device, lists, origins_s, hypothesis, soft)
                          : cpu::make_query_probes(lists, origins_s, hypothesis, soft);
}

}  // namespace spintag::fingerprint
