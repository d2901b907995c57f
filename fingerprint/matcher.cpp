// fingerprint/matcher.cpp - cheap searches first, wide ones only if they must.
#include "fingerprint/matcher.h"

#include "fingerprint/search_plan.h"
#include "fingerprint/window_search.h"
#include "fingerprint/window_searcher.h"

namespace spintag::fingerprint {

struct Matcher::Scratch {
  WindowSearcher searcher;
  WindowSearch window;
};

Matcher::Matcher() : scratch_(std::make_unique<Scratch>()) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

std::vector<Alignment> Matcher::match(const Index& index, const Heard& heard, double start_s,
                                      double end_s, const MatchOptions& options) {
  auto& [searcher, window] = *scratch_;
  window.reset(index, heard, start_s, end_s);
  if (window.view().points().empty()) return {};
  for (const Search& how : searches_of(options, index.length_s())) {
    searcher.search(index, heard.peaks, how, window);
    if (window.beyond_doubt()) break;
  }
  if (const auto closing = window.closing_search())
    searcher.search(index, heard.peaks, *closing, window);
  return window.result(options);
}

}  // namespace spintag::fingerprint
