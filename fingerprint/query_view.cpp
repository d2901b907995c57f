// fingerprint/query_view.cpp - a grid over time and a sorted list over frequency.
#include "fingerprint/query_view.h"

#include <algorithm>
#include <cmath>

#include "fingerprint/landmarks.h"
#include "fingerprint/peak_order.h"
#include "fingerprint/profile.h"

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

void QueryView::assign(std::span<const Peak> peaks, double start_s, double end_s, double pitch) {
  length_s_ = end_s - start_s;
  pitch_ = pitch;
  points_.clear();
  sorted_u_.clear();
  const auto cells = static_cast<std::size_t>(length_s_ / kCellS) + 1;
  cells_.assign(cells + 1, 0);
  for (const Peak& peak : peaks) {
    const double freq = peak.freq_hz / pitch;
    const double slope =
        BroadcastProfile::scale * freq / (BroadcastProfile::scale_corner_hz + freq);
    points_.push_back({.time_s = static_cast<float>(peak.time_s - start_s),
                       .u = static_cast<float>(frequency_to_u(freq)),
                       .slope = static_cast<float>(slope),
                       .ln_freq = std::log(peak.freq_hz),
                       .salience_db = peak.salience_db});
    sorted_u_.push_back(points_.back().u);
    const auto cell = static_cast<std::size_t>(std::max(0.0, (peak.time_s - start_s) / kCellS));
    ++cells_[std::min(cell, cells - 1) + 1];
  }
  for (std::size_t i = 1; i < cells_.size(); ++i) cells_[i] += cells_[i - 1];
  std::sort(sorted_u_.begin(), sorted_u_.end());
}

std::size_t QueryView::first_at(double time_s) const {
  if (time_s <= 0) return 0;
  const auto cell = static_cast<std::size_t>(time_s / kCellS);
  std::size_t i = cells_[std::min(cell, cells_.size() - 1)];
  while (i < points_.size() && points_[i].time_s < time_s) ++i;
  return i;
}

std::span<const QueryView::Point> QueryView::between(double from_s, double to_s) const {
  const std::size_t first = first_at(from_s);
  std::size_t last = first;
  while (last < points_.size() && points_[last].time_s < to_s) ++last;
  return std::span(points_).subspan(first, last - first);
}

std::size_t QueryView::count_near_u(double u, double radius) const {
  const auto first =
      std::lower_bound(sorted_u_.begin(), sorted_u_.end(), static_cast<float>(u - radius));
  const auto last = std::upper_bound(first, sorted_u_.end(), static_cast<float>(u + radius));
  return static_cast<std::size_t>(last - first);
}

std::size_t QueryView::count_near_time(double time_s, double radius_s) const {
  return first_at(time_s + radius_s) - first_at(time_s - radius_s);
}

}  // namespace spintag::fingerprint
