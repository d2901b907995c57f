// fingerprint/window_searcher.cpp - nominate by votes, settle, choose, verify.
#include "fingerprint/window_searcher.h"

#include "fingerprint/index_shard.h"
#include "fingerprint/query_view.h"

namespace spintag::fingerprint {

void WindowSearcher::search(const Index& index, std::span<const Peak> peaks, const Search& how,
                            WindowSearch& window) {
  const double length_s = window.end_s() - window.start_s();
  select_strongest(peaks, window.start_s(), window.end_s(), how.peaks_per_s, selected_);
  pool_.reset(how.pooled);
  for (std::uint32_t i = 0; i < index.shards().size(); ++i)
    sweep_.run(*index.shards()[i], i, selected_, window.start_s(), how, pool_);
  window.begin(how, pool_.take(), index);
  for (Candidate& candidate : window.candidates()) {
    reference_ = reference_points(candidate.packed(), candidate.fit, length_s);
    candidate.coincidences = settle_offset(window.view(), reference_, candidate.fit);
  }
  window.choose();
  for (const Candidate& candidate : window.candidates()) {
    reference_ = reference_points(candidate.packed(), candidate.fit, length_s);
    window.keep(candidate, verify(window.view(), reference_, candidate.fit));
  }
}

}  // namespace spintag::fingerprint
