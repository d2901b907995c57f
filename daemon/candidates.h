// daemon/candidates.h - tracks that windows have named and nobody believes yet, and how much speaks
// for each.
#pragma once

#include <vector>

#include "fingerprint/matcher.h"

namespace spintag::daemon {

struct CandidateParams {
  double clock_tolerance_s = 0.15;  ///< agreement of two alignments, on the track's clock
  double forget_after_s = 8;        ///< not named again within it: forgotten
};

/// Probability as a number that adds up: -log10 of the chance to be wrong, 3 for 0.999.
double nines_of(double confidence);
/// The other way round.
double confidence_of_nines(double nines);

/// Windows that name one track and agree about its clock. Those that overlap hear the same
/// seconds, so they count once, as the surest of them; those that do not add up.
class Candidate {
 public:
  explicit Candidate(const fingerprint::Alignment& found);
  bool agrees(const fingerprint::Alignment& found, double tolerance_s) const;
  void add(const fingerprint::Alignment& found);

  const fingerprint::Alignment& best() const { return best_; }  ///< window, the surest
  double last_end_s() const { return last_end_s_; }
  double nines() const { return before_ + newest_; }

 private:
  fingerprint::Alignment best_;
  double last_end_s_ = 0;
  double before_ = 0;        ///< of windows that end before the newest ones begin
  double newest_ = 0;        ///< of the windows that overlap ...
  double newest_end_s_ = 0;  ///< ... the first of them
};

class Candidates {
 public:
  explicit Candidates(const CandidateParams& params = {}) : params_(params) {}

  /// @return the candidate that the window speaks for; good until the next call
  const Candidate& add(const fingerprint::Alignment& found);
  void forget(double now_s);
  void erase(fingerprint::TrackId track_id);
  void clear() { candidates_.clear(); }

  bool empty() const { return candidates_.empty(); }
  const std::vector<Candidate>& all() const { return candidates_; }

 private:
  CandidateParams params_;
  std::vector<Candidate> candidates_;
};

}  // namespace spintag::daemon
