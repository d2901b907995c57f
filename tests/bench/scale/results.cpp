// tests/bench/scale/results.cpp - matches as text with hexadecimal floating-point numbers.
#include "tests/bench/scale/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

namespace spintag::bench {
namespace {

using fingerprint::Alignment;

std::string line_of(std::size_t window, const Alignment& match) {
  char line[300];
  std::snprintf(line, sizeof line, "%zu %lld %a %a %a %a %a %a %a %a", window,
                static_cast<long long>(match.track_id), match.start_s, match.end_s,
                match.track_start_s, match.tempo, match.pitch, match.score, match.confidence,
                match.found_share);
  return line;
}

std::string text_of(const std::vector<Alignment>& matches) {
  std::string text;
  for (const Alignment& match : matches) text += line_of(0, match) + "\n";
  return text;
}

}  // namespace

Score judge(std::span<const Window> windows, const Results& results) {
  Score score;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Window& window = windows[i];
    if (!window.planted) {
      ++score.unknown;
      score.unknown_named += results[i].empty() ? 0 : 1;
      continue;
    }
    ++score.planted;
    if (results[i].empty()) continue;
    const Alignment& first = results[i].front();
    const bool right = first.track_id == static_cast<fingerprint::TrackId>(window.song) + 1 &&
                       std::abs(first.track_start_s - window.from_s) < 0.1;
    ++(right ? score.found : score.wrong);
    if (right) score.also_named += results[i].size() - 1;
  }
  return score;
}

void write_results(const std::filesystem::path& file, const Results& results) {
  std::ofstream out(file);
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Alignment& match : results[i]) out << line_of(i, match) << '\n';
  }
  out.close();
  if (!out) throw std::runtime_error(file.string() + ": cannot be written");
}

std::size_t compare_results(const std::filesystem::path& left, const std::filesystem::path& right) {
  constexpr std::size_t kShown = 10;
  std::ifstream a(left);
  std::ifstream b(right);
  if (!a || !b) throw std::runtime_error("results cannot be read");
  std::size_t different = 0;
  std::size_t lines = 0;
  for (std::string one, other;; ++lines) {
    const bool more_a = static_cast<bool>(std::getline(a, one));
    const bool more_b = static_cast<bool>(std::getline(b, other));
    if (!more_a && !more_b) break;
    if (more_a && more_b && one == other) continue;
    if (different++ < kShown)
      std::printf("< %s\n> %s\n", more_a ? one.c_str() : "(end)", more_b ? other.c_str() : "(end)");
  }
  std::printf("%zu of %zu lines differ\n", different, lines);
  return different;
}

std::size_t count_different(const Results& left, const Results& right) {
  std::size_t different = 0;
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
    different += text_of(left[i]) != text_of(right[i]) ? 1 : 0;
  return different;
}

}  // namespace spintag::bench
