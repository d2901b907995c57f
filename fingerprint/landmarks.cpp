// fingerprint/landmarks.cpp - target zones, hash layout, and the soft bins of a query.
#include "fingerprint/landmarks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace spintag::fingerprint {
namespace {

using Profile = BroadcastProfile;
constexpr int kMaxU = (1 << Profile::u1_bits) - 1;
constexpr int kDuOffset = 1 << (Profile::du_bits - 1);
constexpr int kMaxDu = (1 << Profile::du_bits) - 1;
constexpr int kMaxDt = (1 << Profile::dt_bits) - 1;

std::uint32_t pack(int u1, int du, int dt) {
  return static_cast<std::uint32_t>(
      (u1 << Profile::du_bits | (du + kDuOffset)) << Profile::dt_bits | dt);
}

bool fits(int u1, int du, int dt) {
  return u1 >= 0 && u1 <= kMaxU && du + kDuOffset >= 0 && du + kDuOffset <= kMaxDu && dt >= 0 &&
         dt <= kMaxDt;
}

/// A value's own bin and, when the value lies near a boundary, the neighbour beyond it.
struct SoftBin {
  explicit SoftBin(double value) : first(static_cast<int>(value)), last(first) {
    const double place = value - first;
    first -= place < Profile::soft_bin ? 1 : 0;
    last += place > 1.0 - Profile::soft_bin ? 1 : 0;
  }
  int first;
  int last;
};

/// A query peak as pairs need it.
struct ProbePeak {
  double time_s;  ///< reference seconds
  double u;
  SoftBin bins;
};

void probe_pair(const ProbePeak& anchor, const ProbePeak& target, std::uint16_t anchor_step,
                std::vector<Probe>& out) {
  const SoftBin bin_dt((target.time_s - anchor.time_s) / Profile::dt_unit_s);
  const int dt = std::max(bin_dt.first, 0);
  const int last = std::min(bin_dt.last, kMaxDt);
  if (last < dt) return;
  const auto count = static_cast<std::uint16_t>(last - dt + 1);
  for (int a = anchor.bins.first; a <= anchor.bins.last; ++a) {
    for (int b = target.bins.first; b <= target.bins.last; ++b) {
      if (fits(a, b - a, dt)) out.push_back({pack(a, b - a, dt), count, anchor_step});
    }
  }
}

}  // namespace

double frequency_to_u(double freq_hz) {
  return Profile::scale * std::log1p(freq_hz / Profile::scale_corner_hz);
}

void make_reference_landmarks(std::span<const Peak> peaks, std::vector<Landmark>& out) {
  std::vector<double> u(peaks.size());
  for (std::size_t i = 0; i < peaks.size(); ++i) u[i] = frequency_to_u(peaks[i].freq_hz);
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    std::array<std::size_t, Profile::targets_per_anchor> best{};
    std::size_t found = 0;
    for (std::size_t j = i + 1; j < peaks.size(); ++j) {
      const double dt = peaks[j].time_s - peaks[i].time_s;
      if (dt > Profile::max_dt_s) break;
      if (dt < Profile::min_dt_s || std::abs(u[j] - u[i]) > Profile::max_du) continue;
      std::size_t place = found;  // insertion by strength; of equals the earlier target stays first
      while (place > 0 && peaks[best[place - 1]].salience_db < peaks[j].salience_db) --place;
      if (place == best.size()) continue;
      found = std::min(found + 1, best.size());
      for (std::size_t k = found - 1; k > place; --k) best[k] = best[k - 1];
      best[place] = j;
    }
    for (std::size_t k = 0; k < found; ++k) {
      const std::size_t j = best[k];
      const int u1 = static_cast<int>(u[i]);
      const int du = static_cast<int>(u[j]) - u1;
      const int dt = static_cast<int>((peaks[j].time_s - peaks[i].time_s) / Profile::dt_unit_s);
      if (fits(u1, du, dt)) out.push_back({pack(u1, du, dt), peaks[i].time_s});
    }
  }
}

void make_query_probes(std::span<const Peak> peaks, double origin_s, const Hypothesis& hypothesis,
                       std::vector<Probe>& out) {
  std::vector<ProbePeak> warped;
  warped.reserve(peaks.size());
  for (const Peak& peak : peaks) {
    const double u = frequency_to_u(peak.freq_hz / hypothesis.pitch);
    warped.push_back({(peak.time_s - origin_s) * hypothesis.tempo, u, SoftBin(u)});
  }
  for (std::size_t i = 0; i < warped.size(); ++i) {
    const ProbePeak& anchor = warped[i];
    const auto step = static_cast<std::uint16_t>(anchor.time_s * Probe::kSteps + 0.5);
    for (std::size_t j = i + 1; j < warped.size(); ++j) {
      const double dt = warped[j].time_s - anchor.time_s;
      if (dt > Profile::max_dt_s) break;
      if (dt < Profile::min_dt_s || std::abs(warped[j].u - anchor.u) > Profile::max_du) continue;
      probe_pair(anchor, warped[j], step, out);
    }
  }
}

}  // namespace spintag::fingerprint
