// fingerprint/matcher.cpp - nominate by votes, decide by verification; cheap searches first, wide
// ones only if they must.
#include "fingerprint/matcher.h"

#include "fingerprint/index_shard.h"
#include "fingerprint/nomination_pool.h"
#include "fingerprint/query_view.h"
#include "fingerprint/search_plan.h"
#include "fingerprint/sweep.h"
#include "fingerprint/verification.h"
#include "fingerprint/window_search.h"

namespace spintag::fingerprint {

struct Matcher::Scratch {
  void search(const Index& index, std::span<const Peak> peaks, const Search& how);
  void settle_candidates();
  void verify_candidates();

  std::vector<Peak> selected;
  Sweep sweep;
  NominationPool pool;
  WindowSearch window;
  std::vector<ReferencePoint> reference;
};

Matcher::Matcher() : scratch_(std::make_unique<Scratch>()) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

std::vector<Alignment> Matcher::match(const Index& index, std::span<const Peak> peaks,
                                      double start_s, double end_s, const MatchOptions& options) {
  Scratch& scratch = *scratch_;
  scratch.window.reset(index, peaks, start_s, end_s);
  if (scratch.window.view().points().empty()) return {};
  for (const Search& how : searches_of(options, index.length_s())) {
    scratch.search(index, peaks, how);
    if (scratch.window.beyond_doubt()) break;
  }
  return scratch.window.result(options);
}

void Matcher::Scratch::search(const Index& index, std::span<const Peak> peaks, const Search& how) {
  select_strongest(peaks, window.start_s(), window.end_s(), how.peaks_per_s, selected);
  pool.reset(how.pooled);
  for (std::uint32_t i = 0; i < index.shards().size(); ++i)
    sweep.run(*index.shards()[i], i, selected, window.start_s(), how, pool);
  window.begin(how, pool.take(), index);
  settle_candidates();
  window.choose();
  verify_candidates();
}

void Matcher::Scratch::settle_candidates() {
  for (Candidate& candidate : window.candidates()) {
    reference =
        reference_points(candidate.packed(), candidate.fit, window.end_s() - window.start_s());
    candidate.coincidences = settle_offset(window.view(), reference, candidate.fit);
  }
}

void Matcher::Scratch::verify_candidates() {
  for (const Candidate& candidate : window.candidates()) {
    reference =
        reference_points(candidate.packed(), candidate.fit, window.end_s() - window.start_s());
    window.keep(candidate, verify(window.view(), reference, candidate.fit));
  }
}

}  // namespace spintag::fingerprint
