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
  explicit SoftBin(double value) : first(static_cast<int>(std::floor(value))), last(first) {
    const double place = value - first;
    if (place < Profile::soft_bin) {
      --first;
    } else if (place > 1.0 - Profile::soft_bin) {
      ++last;
    }
  }
  int first;
  int last;
};

void probe_pair(double u1, double u2, double dt_s, float anchor_time_s, std::vector<Probe>& out) {
  const SoftBin bin1(u1);
  const SoftBin bin2(u2);
  const SoftBin bin_dt(dt_s / Profile::dt_unit_s);
  for (int a = bin1.first; a <= bin1.last; ++a) {
    for (int b = bin2.first; b <= bin2.last; ++b) {
      const int dt = std::max(bin_dt.first, 0);
      const int last = std::min(bin_dt.last, kMaxDt);
      if (last < dt || !fits(a, b - a, dt)) continue;
      out.push_back({pack(a, b - a, dt), static_cast<std::uint32_t>(last - dt + 1), anchor_time_s});
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
  std::vector<double> u(peaks.size());
  for (std::size_t i = 0; i < peaks.size(); ++i)
    u[i] = frequency_to_u(peaks[i].freq_hz / hypothesis.pitch);
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const auto anchor = static_cast<float>((peaks[i].time_s - origin_s) * hypothesis.tempo);
    for (std::size_t j = i + 1; j < peaks.size(); ++j) {
      const double dt = (peaks[j].time_s - peaks[i].time_s) * hypothesis.tempo;
      if (dt > Profile::max_dt_s) break;
      if (dt < Profile::min_dt_s || std::abs(u[j] - u[i]) > Profile::max_du) continue;
      probe_pair(u[i], u[j], dt, anchor, out);
    }
  }
}

}  // namespace spintag::fingerprint
