// fingerprint/reference.cpp - thinning and the 3-byte packing of a reference's peaks.
//
// A peak is 24 bits, little endian: frequency step (12 bits, 1 to 4095; 4,800 Hz / 4,094 = 1.17
// Hz), salience level (4 bits), time since the peak before (8 bits, 4 ms). Frequency step 0 is no
// peak: it moves the clock on by its 8 bits alone.
#include "fingerprint/reference.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fingerprint/landmarks.h"
#include "fingerprint/profile.h"

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;
constexpr double kTimeStep = 0.004;
constexpr double kFreqStep = (Profile::high_hz - Profile::low_hz) / 4094;
constexpr std::int64_t kMaxDelta = 255;
constexpr std::size_t kBytesPerPeak = 3;
/// Salience levels are told apart where reference peaks lie: they only rank the targets of an
/// anchor.
constexpr double kLevelFloor = 6.0;
constexpr double kLevelStep = 1.5;
constexpr int kMaxLevel = 15;

bool stronger(const Peak& a, const Peak& b) {
  if (a.salience_db != b.salience_db) return a.salience_db > b.salience_db;
  return a.time_s != b.time_s ? a.time_s < b.time_s : a.freq_hz < b.freq_hz;
}

/// Peaks without a stronger one near them in time and frequency.
std::vector<Peak> stand_alone(std::span<const Peak> dense) {
  std::vector<Peak> kept;
  std::size_t first = 0;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    while (dense[i].time_s - dense[first].time_s > Profile::thin_s) ++first;
    bool alone = true;
    for (std::size_t j = first;
         alone && j < dense.size() && dense[j].time_s - dense[i].time_s <= Profile::thin_s; ++j) {
      alone = j == i || std::abs(dense[j].freq_hz - dense[i].freq_hz) > Profile::thin_hz ||
              !stronger(dense[j], dense[i]);
    }
    if (alone) kept.push_back(dense[i]);
  }
  return kept;
}

/// The strongest of each second, in time order.
std::vector<Peak> strongest_of_each_second(std::vector<Peak> peaks, std::ptrdiff_t per_second) {
  std::vector<Peak> kept;
  for (auto begin = peaks.begin(); begin != peaks.end();) {
    const double second = std::floor(begin->time_s) + 1;
    const auto end =
        std::find_if(begin, peaks.end(), [&](const Peak& peak) { return peak.time_s >= second; });
    const auto cut = begin + std::min(end - begin, per_second);
    std::partial_sort(begin, cut, end, stronger);
    std::sort(begin, cut, [](const Peak& a, const Peak& b) {
      return a.time_s != b.time_s ? a.time_s < b.time_s : a.freq_hz < b.freq_hz;
    });
    kept.insert(kept.end(), begin, cut);
    begin = end;
  }
  return kept;
}

void append(PackedPeaks& packed, std::uint32_t freq, std::uint32_t level, std::int64_t delta) {
  const std::uint32_t word = freq | level << 12 | static_cast<std::uint32_t>(delta) << 16;
  for (int shift = 0; shift < 24; shift += 8)
    packed.push_back(static_cast<std::byte>(word >> shift & 0xFF));
}

}  // namespace

PackedPeaks make_reference(std::span<const Peak> dense) {
  const std::vector<Peak> peaks =
      strongest_of_each_second(stand_alone(dense), Profile::reference_peaks_per_s);
  PackedPeaks packed;
  packed.reserve(peaks.size() * kBytesPerPeak);
  std::int64_t clock = 0;
  for (const Peak& peak : peaks) {
    const std::int64_t time = std::llround(peak.time_s / kTimeStep);
    for (; time - clock > kMaxDelta; clock += kMaxDelta) append(packed, 0, 0, kMaxDelta);
    const auto freq =
        std::clamp<long>(std::lround((peak.freq_hz - Profile::low_hz) / kFreqStep) + 1, 1, 4095);
    const auto level =
        std::clamp<long>(std::lround((peak.salience_db - kLevelFloor) / kLevelStep), 0, kMaxLevel);
    append(packed, static_cast<std::uint32_t>(freq), static_cast<std::uint32_t>(level),
           time - clock);
    clock = time;
  }
  return packed;
}

std::vector<Peak> unpack_peaks(std::span<const std::byte> packed, double from_s, double to_s) {
  if (packed.size() % kBytesPerPeak != 0)
    throw std::invalid_argument("packed peaks: not a whole number of peaks");
  std::vector<Peak> peaks;
  std::int64_t clock = 0;
  for (std::size_t i = 0; i < packed.size(); i += kBytesPerPeak) {
    const auto word = std::to_integer<std::uint32_t>(packed[i]) |
                      std::to_integer<std::uint32_t>(packed[i + 1]) << 8 |
                      std::to_integer<std::uint32_t>(packed[i + 2]) << 16;
    clock += word >> 16;
    const std::uint32_t freq = word & 0xFFF;
    const double time_s = static_cast<double>(clock) * kTimeStep;
    if (time_s >= to_s) break;
    if (freq == 0 || time_s < from_s) continue;
    peaks.push_back(
        {.time_s = time_s,
         .freq_hz = static_cast<float>(Profile::low_hz + (freq - 1) * kFreqStep),
         .salience_db = static_cast<float>(kLevelFloor + (word >> 12 & 0xF) * kLevelStep)});
  }
  return peaks;
}

std::size_t count_landmarks(std::span<const std::byte> packed) {
  std::vector<Landmark> landmarks;
  make_reference_landmarks(unpack_peaks(packed), landmarks);
  return landmarks.size();
}

}  // namespace spintag::fingerprint
