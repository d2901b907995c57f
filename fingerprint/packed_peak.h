// fingerprint/packed_peak.h - the 3 bytes of a stored peak, read alike by the processor and a CUDA
// device.
//
// A peak is 24 bits, little endian: frequency step (12 bits, 1 to 4095; 4,800 Hz / 4,094 = 1.17
// Hz), salience level (4 bits), time since the peak before (8 bits, 4 ms). Frequency step 0 is no
// peak: it moves the clock on by its 8 bits alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fingerprint/peak.h"
#include "fingerprint/portable_math.h"
#include "fingerprint/profile.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

/// One record of PackedPeaks.
struct PackedPeak {
  static constexpr std::size_t kBytes = 3;
  static constexpr double kTimeStep = 0.004;  ///< seconds
  static constexpr double kFreqStep = (BroadcastProfile::high_hz - BroadcastProfile::low_hz) / 4094;
  /// Salience levels are told apart where reference peaks lie: they only rank the targets of an
  /// anchor.
  static constexpr double kLevelFloor = 6.0;
  static constexpr double kLevelStep = 1.5;

  static constexpr std::uint32_t kMaxFreq = 4095;
  static constexpr std::uint32_t kMaxLevel = 15;
  static constexpr std::int64_t kMaxDelta = 255;

  std::uint32_t word = 0;

  /// The time of a peak on the clock of the packing.
  SPINTAG_HOST_DEVICE static std::int64_t ticks(double time_s) {
    return portable_round(time_s / kTimeStep);
  }
  /// @param delta  since the peak before, at most kMaxDelta
  SPINTAG_HOST_DEVICE static PackedPeak of(const Peak& peak, std::int64_t delta) {
    const double freq = (peak.freq_hz - BroadcastProfile::low_hz) / kFreqStep;
    const double level = (peak.salience_db - kLevelFloor) / kLevelStep;
    return {clamped(portable_round(freq) + 1, 1, kMaxFreq) |
            clamped(portable_round(level), 0, kMaxLevel) << 12 |
            static_cast<std::uint32_t>(delta) << 16};
  }
  /// No peak: moves the clock on by kMaxDelta.
  SPINTAG_HOST_DEVICE static PackedPeak pause() {
    return {static_cast<std::uint32_t>(kMaxDelta) << 16};
  }

  SPINTAG_HOST_DEVICE static PackedPeak at(const std::byte* bytes) {
    return {static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
            static_cast<std::uint32_t>(bytes[2]) << 16};
  }
  SPINTAG_HOST_DEVICE bool is_peak() const { return (word & 0xFFF) != 0; }
  SPINTAG_HOST_DEVICE std::uint32_t delta() const { return word >> 16; }  ///< in kTimeStep
  SPINTAG_HOST_DEVICE float freq_hz() const {
    return static_cast<float>(BroadcastProfile::low_hz + ((word & 0xFFF) - 1) * kFreqStep);
  }
  SPINTAG_HOST_DEVICE float salience_db() const {
    return static_cast<float>(kLevelFloor + (word >> 12 & 0xF) * kLevelStep);
  }

 private:
  SPINTAG_HOST_DEVICE static std::uint32_t clamped(std::int64_t value, std::int64_t low,
                                                   std::int64_t high) {
    return static_cast<std::uint32_t>(value < low ? low : value > high ? high : value);
  }
};

}  // namespace spintag::fingerprint
