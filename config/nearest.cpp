// config/nearest.cpp - edit distance, and the hint made from it.
#include "config/nearest.h"

#include <algorithm>
#include <vector>

namespace spintag::config {

// d(i,j) = min(d(i-1,j) + 1, d(i,j-1) + 1, d(i-1,j-1) + [a_i != b_j], d(i-2,j-2) + 1 if a_i a_i-1 =
// b_j-1 b_j).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string suggest(std::string_view word, std::span<const std::string_view> known) {
  if (known.empty()) return "nothing is known here";
  const auto distance = [word](std::string_view to) { return edit_distance(word, to); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  // A third of the letters wrong is a typing error, more is another word.
  const std::size_t near_enough = std::max<std::size_t>(2, word.size() / 3);
  if (distance(*nearest) <= std::min(near_enough, nearest->size() - 1)) {
    return "did you mean " + std::string(*nearest) + "?";
  }
  std::string all = "known: ";
  for (const std::string_view& one : known) {
    if (&one != &known.front()) all += ", ";
    all += one;
  }
  return all;
}

}  // namespace spintag::config
