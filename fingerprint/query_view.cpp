// fingerprint/query_view.cpp - a grid over time and one over frequency.
#include "fingerprint/query_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fingerprint/peak_order.h"

namespace spintag::fingerprint {

void select_strongest(std::span<const Peak> peaks, double start_s, double end_s, int per_second,
                      std::vector<Peak>& out) {
  const auto by_time = [](const Peak& peak, double time) { return peak.time_s < time; };
  auto begin = std::lower_bound(peaks.begin(), peaks.end(), start_s, by_time);
  const auto last = std::lower_bound(begin, peaks.end(), end_s, by_time);
  out.clear();
  for (double second = start_s; begin != last; second += 1.0) {
    const auto end = std::lower_bound(begin, last, second + 1.0, by_time);
    const double share = std::min(1.0, end_s - second);
    const auto limit = static_cast<std::ptrdiff_t>(std::ceil(per_second * share));
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    out.insert(out.end(), begin, end);
    if (end - begin > limit) {
      std::nth_element(out.begin() + first, out.begin() + first + limit, out.end(), is_stronger);
      out.resize(static_cast<std::size_t>(first + limit));
      std::sort(out.begin() + first, out.end(), is_earlier);
    }
    begin = end;
  }
}

QueryArrays QueryView::arrays() const {
  QueryArrays arrays;
  arrays.points = points_.data();
  arrays.salience_db = salience_db_.data();
  arrays.time_cells = time_cells_.data();
  arrays.u = u_.data();
  arrays.u_cells = u_cells_.data();
  arrays.count = static_cast<std::uint32_t>(points_.size());
  arrays.time_cell_count = static_cast<std::uint32_t>(time_cells_.size() - 1);
  arrays.length_s = length_s_;
  return arrays;
}

void QueryView::assign(std::span<const Peak> peaks, double start_s, double end_s,
                       const LevelMap* levels) {
  start_s_ = start_s;
  length_s_ = end_s - start_s;
  levels_ = levels;
  points_.clear();
  salience_db_.clear();
  time_cells_.assign(QueryArrays::time_cells_for(length_s_) + 1, 0);
  u_cells_.assign(QueryArrays::kUCells + 1, 0);
  u_.resize(peaks.size());
  const QueryArrays sizes = arrays();
  for (const Peak& peak : peaks) {
    points_.push_back(make_query_point(peak, start_s));
    salience_db_.push_back(peak.salience_db);
    ++time_cells_[sizes.time_cell(points_.back().time_s) + 1];
    ++u_cells_[QueryArrays::u_cell(points_.back().u) + 1];
  }
  std::partial_sum(time_cells_.begin(), time_cells_.end(), time_cells_.begin());
  std::partial_sum(u_cells_.begin(), u_cells_.end(), u_cells_.begin());
  for (const QueryPoint& point : points_) u_[u_cells_[QueryArrays::u_cell(point.u)]++] = point.u;
  std::copy_backward(u_cells_.begin(), u_cells_.end() - 1, u_cells_.end());
  u_cells_[0] = 0;
}

}  // namespace spintag::fingerprint
