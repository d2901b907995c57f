// fingerprint/matcher.cpp - nominate by votes, decide by verification; sparse probes first, dense
// ones only if they must.
#include "fingerprint/matcher.h"

#include "fingerprint/index_shard.h"
#include "fingerprint/query_view.h"
#include "fingerprint/verification.h"
#include "fingerprint/votes.h"
#include "fingerprint/window_search.h"

namespace spintag::fingerprint {

struct Matcher::Scratch {
  void nominate(const Index& index, std::span<const Peak> peaks, const Search& how,
                const Hypothesis& hypothesis);
  void settle_candidates();
  void verify_candidates();

  std::vector<Peak> probe_peaks;
  std::vector<Peak> view_peaks;
  std::vector<Probe> probes;
  VoteCounter votes;
  QueryView view;
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
  scratch.window.reset(start_s, end_s);
  select_strongest(peaks, start_s, end_s, BroadcastProfile::verify_peaks_per_s, scratch.view_peaks);
  if (scratch.view_peaks.empty()) return {};
  for (const Search& how : searches_of(options)) {
    const Hypothesis& hypothesis = options.hypotheses[how.hypothesis];
    scratch.view.assign(scratch.view_peaks, start_s, end_s, hypothesis.pitch);
    scratch.nominate(index, peaks, how, hypothesis);
    scratch.settle_candidates();
    scratch.window.choose();
    scratch.verify_candidates();
    if (scratch.window.beyond_doubt()) break;
  }
  return scratch.window.result(options);
}

void Matcher::Scratch::nominate(const Index& index, std::span<const Peak> peaks, const Search& how,
                                const Hypothesis& hypothesis) {
  select_strongest(peaks, window.start_s(), window.end_s(), how.peaks_per_s, probe_peaks);
  probes.clear();
  make_query_probes(probe_peaks, window.start_s(), hypothesis, probes);
  window.clear_candidates();
  for (std::size_t i = 0; i < index.shards().size(); ++i) {
    const IndexShard& shard = *index.shards()[i];
    window.add(votes.count(shard, probes, kFewestVotes, how.nominations), i, shard, hypothesis);
  }
}

void Matcher::Scratch::settle_candidates() {
  for (Candidate& candidate : window.candidates()) {
    reference =
        reference_points(candidate.packed(), candidate.fit, window.end_s() - window.start_s());
    candidate.coincidences = settle_offset(view, reference, candidate.fit);
  }
}

void Matcher::Scratch::verify_candidates() {
  for (const Candidate& candidate : window.candidates()) {
    reference =
        reference_points(candidate.packed(), candidate.fit, window.end_s() - window.start_s());
    window.keep(candidate, verify(view, reference, candidate.fit));
  }
}

}  // namespace spintag::fingerprint
