// fingerprint/query_view.h - the peaks of one query window, arranged so that a reference's peaks
// find their counterparts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/peak.h"

namespace spintag::fingerprint {

/// Peaks within [start_s, end_s), the strongest of each second first. In time order.
/// @param per_second  how many of each second are kept
/// @param out         replaced
void select_strongest(std::span<const Peak> peaks, double start_s, double end_s, int per_second,
                      std::vector<Peak>& out);

/// One window of a query under one pitch hypothesis. Times count from the window's start.
class QueryView {
 public:
  /// A query peak near a place that was asked for.
  struct Point {
    float time_s = 0;
    float u = 0;      ///< frequency scale of the peak at reference pitch
    float slope = 0;  ///< how far u falls for a unit of ln(pitch)
    float ln_freq = 0;
    float salience_db = 0;
  };

  /// @param peaks  in time order; the densest set that verification uses
  void assign(std::span<const Peak> peaks, double start_s, double end_s, double pitch);

  std::span<const Point> points() const { return points_; }
  /// Points with time in [from_s, to_s).
  std::span<const Point> between(double from_s, double to_s) const;
  double length_s() const { return length_s_; }
  double pitch() const { return pitch_; }
  std::size_t count_near_u(double u, double radius) const;
  std::size_t count_near_time(double time_s, double radius_s) const;

 private:
  std::size_t first_at(double time_s) const;

  static constexpr double kCellS = 0.016;
  std::vector<Point> points_;
  std::vector<std::uint32_t> cells_;  ///< [cells + 1] first point of each cell of kCellS
  std::vector<float> sorted_u_;
  double length_s_ = 0;
  double pitch_ = 1;
};

}  // namespace spintag::fingerprint
