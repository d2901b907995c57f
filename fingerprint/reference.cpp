// fingerprint/reference.cpp - thinning and the 3-byte packing of a reference's peaks.
#include "fingerprint/reference.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fingerprint/cuda/lists.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/packed_peak.h"
#include "fingerprint/peak_order.h"
#include "fingerprint/profile.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;

/// The strongest of each second, in time order.
std::vector<Peak> strongest_of_each_second(std::vector<Peak> peaks, std::ptrdiff_t per_second) {
  std::vector<Peak> kept;
  for (auto begin = peaks.begin(); begin != peaks.end();) {
    const double second = std::floor(begin->time_s) + 1;
    const auto end =
        std::find_if(begin, peaks.end(), [&](const Peak& peak) { return peak.time_s >= second; });
    const auto cut = begin + std::min(end - begin, per_second);
    std::partial_sort(begin, cut, end, is_stronger);
    std::sort(begin, cut, is_earlier);
    kept.insert(kept.end(), begin, cut);
    begin = end;
  }
  return kept;
}

void append(PackedPeaks& packed, PackedPeak peak) {
  for (int shift = 0; shift < 24; shift += 8)
    packed.push_back(static_cast<std::byte>(peak.word >> shift & 0xFF));
}

}  // namespace

std::vector<Peak> stand_alone(std::span<const Peak> dense) {
  std::vector<Peak> kept;
  std::size_t first = 0;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    while (dense[i].time_s - dense[first].time_s > Profile::thin_s) ++first;
    bool alone = true;
    for (std::size_t j = first;
         alone && j < dense.size() && dense[j].time_s - dense[i].time_s <= Profile::thin_s; ++j) {
      alone = j == i || std::abs(dense[j].freq_hz - dense[i].freq_hz) > Profile::thin_hz ||
              !is_stronger(dense[j], dense[i]);
    }
    if (alone) kept.push_back(dense[i]);
  }
  return kept;
}

PackedPeaks make_reference(std::span<const Peak> dense) {
  const std::vector<Peak> peaks =
      strongest_of_each_second(stand_alone(dense), Profile::reference_peaks_per_s);
  PackedPeaks packed;
  packed.reserve(peaks.size() * PackedPeak::kBytes);
  std::int64_t clock = 0;
  for (const Peak& peak : peaks) {
    const std::int64_t time = PackedPeak::ticks(peak.time_s);
    for (; time - clock > PackedPeak::kMaxDelta; clock += PackedPeak::kMaxDelta)
      append(packed, PackedPeak::pause());
    append(packed, PackedPeak::of(peak, time - clock));
    clock = time;
  }
  return packed;
}

std::vector<PackedPeaks> make_references(kernels::Device& device,
                                         std::span<const std::span<const Peak>> dense) {
  if (device.is_cuda()) return cuda::make_references(device, dense);
  std::vector<PackedPeaks> references;
  for (const auto& recording : dense) references.push_back(make_reference(recording));
  return references;
}

std::vector<Peak> unpack_peaks(std::span<const std::byte> packed, double from_s, double to_s) {
  if (packed.size() % PackedPeak::kBytes != 0)
    throw std::invalid_argument("packed peaks: not a whole number of peaks");
  std::vector<Peak> peaks;
  std::int64_t clock = 0;
  for (std::size_t i = 0; i < packed.size(); i += PackedPeak::kBytes) {
    const PackedPeak peak = PackedPeak::at(packed.data() + i);
    clock += peak.delta();
    const double time_s = static_cast<double>(clock) * PackedPeak::kTimeStep;
    if (time_s >= to_s) break;
    if (!peak.is_peak() || time_s < from_s) continue;
    peaks.push_back(
        {.time_s = time_s, .freq_hz = peak.freq_hz(), .salience_db = peak.salience_db()});
  }
  return peaks;
}

std::size_t count_landmarks(std::span<const std::byte> packed) {
  std::vector<Landmark> landmarks;
  make_reference_landmarks(unpack_peaks(packed), landmarks);
  return landmarks.size();
}

}  // namespace spintag::fingerprint
