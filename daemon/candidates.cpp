// daemon/candidates.cpp - tracks that windows have named, and how much speaks for each.
#include "daemon/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daemon/track_clock.h"

namespace spintag::daemon {

using fingerprint::Alignment;

double nines_of(double confidence) {
  return -std::log10(std::max(1 - confidence, std::numeric_limits<double>::epsilon() / 2));
}

double confidence_of_nines(double nines) {
  return 1 - std::max(std::pow(10, -nines), std::numeric_limits<double>::epsilon() / 2);
}

Candidate::Candidate(const Alignment& found)
    : best_(found),
      last_end_s_(found.end_s),
      newest_(nines_of(found.confidence)),
      newest_end_s_(found.end_s) {}

bool Candidate::agrees(const Alignment& found, double tolerance_s) const {
  return best_.track_id == found.track_id &&
         clock_distance(best_, found, found.end_s) <= tolerance_s;
}

void Candidate::add(const Alignment& found) {
  const double nines = nines_of(found.confidence);
  if (found.start_s >= newest_end_s_) {
    before_ += newest_;
    newest_ = nines;
    newest_end_s_ = found.end_s;
  } else {
    newest_ = std::max(newest_, nines);
  }
  last_end_s_ = std::max(last_end_s_, found.end_s);
  if (found.confidence >= best_.confidence) best_ = found;
}

const Candidate& Candidates::add(const Alignment& found) {
  const auto known = std::find_if(
      candidates_.begin(), candidates_.end(),
      [&](const Candidate& one) { return one.agrees(found, params_.clock_tolerance_s); });
  if (known == candidates_.end()) return candidates_.emplace_back(found);
  known->add(found);
  return *known;
}

void Candidates::forget(double now_s) {
  std::erase_if(candidates_, [&](const Candidate& one) {
    return now_s - one.last_end_s() > params_.forget_after_s;
  });
}

void Candidates::erase(fingerprint::TrackId track_id) {
  std::erase_if(candidates_, [&](const Candidate& one) { return one.best().track_id == track_id; });
}

}  // namespace spintag::daemon
