// fingerprint/query_arrays.h - one window of a query as verification reads it, in the memory of the
// processor or of a CUDA device.
//
// The points lie in time order with a grid of cells over it. A second list holds the points' u cell
// by cell, in any order within a cell: only how many are near is asked of it.
#pragma once

#include <cstdint>

#include "fingerprint/landmarks.h"
#include "fingerprint/peak.h"
#include "fingerprint/portable_math.h"
#include "fingerprint/profile.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

/// A query peak. A device reads it at once.
struct alignas(16) QueryPoint {
  float time_s = 0;  ///< from the window's start
  float u = 0;       ///< on the frequency scale
  float slope = 0;   ///< how far u falls for a unit of ln(pitch)
  float ln_freq = 0;
};

/// @param start_s  query time of the window's start
SPINTAG_HOST_DEVICE inline QueryPoint make_query_point(const Peak& peak, double start_s) {
  const double freq = peak.freq_hz;
  const double slope = BroadcastProfile::scale * freq / (BroadcastProfile::scale_corner_hz + freq);
  QueryPoint point;
  point.time_s = static_cast<float>(peak.time_s - start_s);
  point.u = static_cast<float>(frequency_to_u(freq));
  point.slope = static_cast<float>(slope);
  point.ln_freq = static_cast<float>(portable_log(peak.freq_hz));
  return point;
}

/// Owns nothing.
struct QueryArrays {
  static constexpr double kTimeCellsPerS = 62.5;  ///< cells of 16 ms
  static constexpr double kUCellsPerU = 0.5;
  static constexpr std::uint32_t kUCells = 640;

  const QueryPoint* points = nullptr;         ///< [count] in time order
  const float* salience_db = nullptr;         ///< [count] of the points
  const std::uint32_t* time_cells = nullptr;  ///< [time_cell_count + 1] first point of each
  const float* u = nullptr;                   ///< [count] by cell
  const std::uint32_t* u_cells = nullptr;     ///< [kUCells + 1] first of `u` of each
  std::uint32_t count = 0;
  std::uint32_t time_cell_count = 1;
  double length_s = 0;

  /// The cell of a value; the first and the last take what lies beyond. NaN goes to the first.
  SPINTAG_HOST_DEVICE static std::uint32_t cell_of(double value, double cells_per_unit,
                                                   std::uint32_t cells) {
    const double cell = value * cells_per_unit;
    return cell >= cells ? cells - 1 : cell > 0 ? static_cast<std::uint32_t>(cell) : 0;
  }
  SPINTAG_HOST_DEVICE static std::uint32_t time_cells_for(double length_s) {
    return static_cast<std::uint32_t>(length_s > 0 ? length_s * kTimeCellsPerS : 0) + 1;
  }
  SPINTAG_HOST_DEVICE std::uint32_t time_cell(double time_s) const {
    return cell_of(time_s, kTimeCellsPerS, time_cell_count);
  }
  SPINTAG_HOST_DEVICE static std::uint32_t u_cell(double u) {
    return cell_of(u, kUCellsPerU, kUCells);
  }

  /// First point at `time_s` or after it.
  SPINTAG_HOST_DEVICE std::uint32_t first_at(double time_s) const {
    std::uint32_t i = time_cells[time_cell(time_s)];
    while (i < count && points[i].time_s < time_s) ++i;
    return i;
  }
  SPINTAG_HOST_DEVICE std::uint32_t count_near_time(double time_s, double radius_s) const {
    return first_at(time_s + radius_s) - first_at(time_s - radius_s);
  }
  /// Points with u in [u - radius, u + radius].
  SPINTAG_HOST_DEVICE std::uint32_t count_near_u(double at, double radius) const {
    const auto from = static_cast<float>(at - radius);
    const auto to = static_cast<float>(at + radius);
    const std::uint32_t low = u_cell(from);
    const std::uint32_t high = u_cell(to);
    const std::uint32_t end = u_cells[high + 1];
    std::uint32_t near = 0;
    // Cells are narrower than what is asked for: few of the values looked at are not counted.
    for (std::uint32_t i = u_cells[low]; i < end; ++i) near += u[i] >= from && u[i] <= to ? 1 : 0;
    return near;
  }
};

}  // namespace spintag::fingerprint
