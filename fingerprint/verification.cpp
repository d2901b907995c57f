// fingerprint/verification.cpp - coincidences, the least-squares fit, and a Chernoff bound on
// chance, on the processor.
#include "fingerprint/verification.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fingerprint/chernoff.h"
#include "fingerprint/fit_sums.h"
#include "fingerprint/reference.h"
#include "fingerprint/verification_math.h"

namespace spintag::fingerprint {
namespace {

using namespace verification;

/// Points of a reference whose time lies in a stretch.
std::span<const ReferencePoint> within(std::span<const ReferencePoint> reference,
                                       const Stretch& stretch) {
  const auto by_time = [](const ReferencePoint& point, double time) { return point.time_s < time; };
  const auto first = std::lower_bound(reference.begin(), reference.end(), stretch.from_s, by_time);
  const auto last = std::lower_bound(first, reference.end(), stretch.to_s, by_time);
  return {first, last};
}

/// Joins partial sums the way a warp does.
template <class T, class Join>
T join(std::array<T, kLanes>& partial, Join&& join_two) {
  for (std::size_t step = kLanes / 2; step > 0; step /= 2) {
    for (std::size_t i = 0; i < step; ++i) join_two(partial[i], partial[i + step]);
  }
  return partial[0];
}

FitSums fit_sums(const QueryArrays& query, std::span<const ReferencePoint> reference,
                 const Fit& begin, const Fit& fit, const Ellipse& ellipse) {
  std::array<FitSums, kLanes> partial{};
  const Placement placement(fit, begin.pitch);
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const ReferencePoint& point = reference[i];
    const Nearest found = nearest(query, point, placement.at(point), placement, ellipse);
    if (found.index == Nearest::kNone) continue;
    partial[i % kLanes].add(query, point, fit, begin.tempo, found);
  }
  return join(partial, [](FitSums& a, const FitSums& b) { a.add(b); });
}

/// Chances of coincidences, filled up with zeros to whole rows of kLanes.
class ChernoffBound {
 public:
  explicit ChernoffBound(std::span<const Coincidence> coincidences)
      : chances_((coincidences.size() + kLanes - 1) / kLanes) {
    std::array<double, kLanes> weights{};
    for (std::size_t i = 0; i < coincidences.size(); ++i) {
      weights[i % kLanes] += coincidences[i].weight;
      chances_[i / kLanes][i % kLanes] = coincidences[i].chance;
    }
    total_weight_ = join(weights, [](double& a, double b) { a += b; });
  }

  double at(double s) const {
    const ChernoffFactor factor(s);
    std::array<Product, kLanes> products{};
    std::array<double, kLanes> row_products;
    for (std::size_t begin = 0; begin < chances_.size(); begin += Product::kBetween) {
      const std::size_t end = std::min(begin + Product::kBetween, chances_.size());
      for (std::size_t i = 0; i < kLanes; ++i) row_products[i] = products[i].value;
      for (std::size_t row = begin; row < end; ++row) {
        for (std::size_t i = 0; i < kLanes; ++i) row_products[i] *= factor.of(chances_[row][i]);
      }
      for (std::size_t i = 0; i < kLanes; ++i) {
        products[i].value = row_products[i];
        products[i].normalise();
      }
    }
    const Product product = join(products, [](Product& a, const Product& b) {
      a.value *= b.value;
      a.exponent += b.exponent;
    });
    return s * total_weight_ - product.log();
  }

  double score() const {
    BoundSearch search;
    search.at_a = at(search.a);
    search.at_b = at(search.b);
    while (search.wide()) {
      const double s = search.narrow();
      search.set(at(s));
    }
    return search.score();
  }

 private:
  std::vector<std::array<float, kLanes>> chances_;
  double total_weight_ = 0;
};

/// The loss of rank n / 2 among those of the peaks found.
float median_loss(std::span<const Coincidence> coincidences, std::size_t found) {
  std::vector<float> losses;
  losses.reserve(found);
  for (const Coincidence& c : coincidences) {
    if (c.weight > 0) losses.push_back(c.loss_db);
  }
  const auto middle = losses.begin() + static_cast<std::ptrdiff_t>(found / 2);
  std::nth_element(losses.begin(), middle, losses.end());
  return *middle;
}

}  // namespace

std::vector<ReferencePoint> reference_points(std::span<const std::byte> packed, const Fit& fit,
                                             double window_s) {
  const Stretch stretch = within_reach_unsettled(fit, window_s);
  std::vector<ReferencePoint> points;
  for (const Peak& peak : unpack_peaks(packed, stretch.from_s, stretch.to_s)) {
    if (audible(peak.freq_hz, fit.pitch))
      points.push_back(
          make_reference_point(peak.time_s, peak.freq_hz, peak.salience_db, fit.pitch));
  }
  return points;
}

std::span<const ReferencePoint> points_inside(std::span<const ReferencePoint> reference,
                                              const Fit& fit, double window_s) {
  return within(reference, inside_window(fit, window_s));
}

int settle_offset(const QueryView& query, std::span<const ReferencePoint> reference, Fit& fit) {
  const QueryArrays arrays = query.arrays();
  const Placement placement(fit, fit.pitch);
  std::array<int, kOffsets> counts{};
  for (const ReferencePoint& point : within(reference, inside_window(fit, query.length_s()))) {
    const std::uint32_t met = offsets_met(arrays, point, placement);
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += met >> k & 1;
  }
  const SettledOffset best = best_offset(counts.data());
  fit.offset_s += best.shift_s;
  return best.coincidences;
}

void find_coincidences(const QueryView& query, std::span<const ReferencePoint> reference,
                       double reference_pitch, const Fit& fit, std::vector<Coincidence>& out) {
  out.clear();
  if (query.points().empty()) return;
  const QueryArrays arrays = query.arrays();
  const Placement placement(fit, reference_pitch);
  const ChanceModel chance(arrays);
  for (const ReferencePoint& point : within(reference, inside_window(fit, query.length_s())))
    out.push_back(coincidence_of(arrays, point, placement, chance));
}

Verdict verify(const QueryView& query, std::span<const ReferencePoint> reference, const Fit& fit,
               bool refine) {
  Verdict verdict{.fit = fit};
  reference = within(reference, within_reach(fit, query.length_s()));
  for (int round = 0; refine && round < kRounds; ++round) {
    const auto inside = within(reference, inside_window(verdict.fit, query.length_s()));
    const FitSums sums = fit_sums(query.arrays(), inside, fit, verdict.fit, ellipse_of(round));
    verdict.fit = refit(sums, query.length_s(), fit, verdict.fit);
  }
  std::vector<Coincidence> coincidences;
  find_coincidences(query, reference, fit.pitch, verdict.fit, coincidences);
  verdict.expected = static_cast<int>(coincidences.size());
  if (coincidences.empty()) return verdict;
  const auto found = std::count_if(coincidences.begin(), coincidences.end(),
                                   [](const Coincidence& c) { return c.weight > 0; });
  verdict.found_share = static_cast<double>(found) / verdict.expected;
  if (found >= kEnoughForMasking)
    verdict.masking_db = median_loss(coincidences, static_cast<std::size_t>(found));
  verdict.score = ChernoffBound(coincidences).score();
  return verdict;
}

}  // namespace spintag::fingerprint
