// fingerprint/landmark_math.h - target zones, hash layout and the soft bins of a query, for the
// processor and CUDA devices alike.
#pragma once

#include <cmath>
#include <cstdint>

#include "fingerprint/landmarks.h"
#include "fingerprint/peak.h"
#include "fingerprint/profile.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint::landmark_math {

using Profile = BroadcastProfile;
inline constexpr int kMaxU = (1 << Profile::u1_bits) - 1;
inline constexpr int kDuOffset = 1 << (Profile::du_bits - 1);
inline constexpr int kMaxDu = (1 << Profile::du_bits) - 1;
inline constexpr int kMaxDt = (1 << Profile::dt_bits) - 1;

SPINTAG_HOST_DEVICE inline std::uint32_t pack(int u1, int du, int dt) {
  return static_cast<std::uint32_t>(
      (u1 << Profile::du_bits | (du + kDuOffset)) << Profile::dt_bits | dt);
}

SPINTAG_HOST_DEVICE inline bool fits(int u1, int du, int dt) {
  return u1 >= 0 && u1 <= kMaxU && du + kDuOffset >= 0 && du + kDuOffset <= kMaxDu && dt >= 0 &&
         dt <= kMaxDt;
}

/// A value's own bin and, when the value lies within `soft` bins of a boundary, the neighbour
/// beyond it.
struct SoftBin {
  SoftBin() = default;
  SPINTAG_HOST_DEVICE SoftBin(double value, double soft) {
    const int bin = static_cast<int>(value);
    const double place = value - bin;
    first = bin - (place < soft ? 1 : 0);
    last = bin + (place > 1.0 - soft ? 1 : 0);
  }
  SPINTAG_HOST_DEVICE int count() const { return last - first + 1; }
  int first;
  int last;
};

/// A query peak as pairs need it.
struct ProbePeak {
  double time_s;  ///< reference seconds
  double u;
  SoftBin bins;
};

SPINTAG_HOST_DEVICE inline ProbePeak warp(const Peak& peak, double origin_s,
                                          const Hypothesis& hypothesis, double soft_u) {
  const double u = frequency_to_u(peak.freq_hz / hypothesis.pitch);
  return {(peak.time_s - origin_s) * hypothesis.tempo, u, SoftBin(u, soft_u)};
}

SPINTAG_HOST_DEVICE inline std::uint16_t anchor_step(double time_s) {
  return static_cast<std::uint16_t>(time_s * Probe::kSteps + 0.5);
}

/// Whether a target so far from its anchor lies in the zone; `dt` at most max_dt_s.
SPINTAG_HOST_DEVICE inline bool in_zone(double dt, double anchor_u, double target_u) {
  const double du = std::abs(target_u - anchor_u);
  return dt >= Profile::min_dt_s && du >= Profile::min_du && du <= Profile::max_du;
}

// A soft bin reaches one bin beyond its value's. In the zone du and dt therefore always fit the
// hash, and a pair asks for each bin of the anchor that fits with each bin of the target.
static_assert(Profile::max_du + 4 < kDuOffset);
static_assert(Profile::min_dt_s >= 2 * Profile::dt_unit_s);
static_assert(Profile::max_dt_s / Profile::dt_unit_s + 2 < kMaxDt);

/// The bins of an anchor that fit the hash; none has last < first.
SPINTAG_HOST_DEVICE inline SoftBin fitting(SoftBin bins) {
  bins.first = bins.first < 0 ? 0 : bins.first;
  bins.last = bins.last > kMaxU ? kMaxU : bins.last;
  if (bins.last < bins.first) bins.last = bins.first - 1;
  return bins;
}

/// The bins of a time difference as a Probe asks for them.
struct ProbeTime {
  SPINTAG_HOST_DEVICE ProbeTime(double dt, double soft) {
    const SoftBin bins(dt / Profile::dt_unit_s, soft);
    first = bins.first;
    count = static_cast<std::uint16_t>(bins.count());
  }
  int first;
  std::uint16_t count;  ///< 1 or 2
};

/// The strongest targets of a reference's anchor so far, the strongest first; of equals the earlier
/// target stays first.
struct BestTargets {
  std::uint32_t index[Profile::targets_per_anchor] = {};
  float salience_db[Profile::targets_per_anchor] = {};
  int found = 0;

  /// Every slot is looked at, so that a device keeps them in registers.
  SPINTAG_HOST_DEVICE void add(std::uint32_t target, float salience) {
    bool moved = false;  // the slots from here on move down by one
    for (int k = 0; k < Profile::targets_per_anchor; ++k) {
      moved = moved || k >= found || salience_db[k] < salience;
      const std::uint32_t other = index[k];
      const float other_salience = salience_db[k];
      if (moved) {
        index[k] = target;
        salience_db[k] = salience;
        target = other;
        salience = other_salience;
      }
    }
    if (found < Profile::targets_per_anchor) ++found;
  }
};

/// The landmark of a pair, if its differences fit.
/// @param anchor_u, target_u  on the scale of frequency_to_u()
SPINTAG_HOST_DEVICE inline bool reference_hash(double anchor_u, double target_u, double dt,
                                               std::uint32_t& hash) {
  const int u1 = static_cast<int>(anchor_u);
  const int du = static_cast<int>(target_u) - u1;
  const int steps = static_cast<int>(dt / Profile::dt_unit_s);
  if (!fits(u1, du, steps)) return false;
  hash = pack(u1, du, steps);
  return true;
}

}  // namespace spintag::fingerprint::landmark_math
