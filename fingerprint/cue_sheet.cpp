// fingerprint/cue_sheet.cpp - windows of ten seconds, joined along each track's own clock, then
// walked to their ends.
#include "fingerprint/cue_sheet.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spintag::fingerprint {
namespace {

constexpr double kShortRecording = 15.0;  ///< up to here a recording is one window
constexpr double kWindow = 10.0;
constexpr double kHop = 5.0;
constexpr double kSameClock =
    0.25;  ///< seconds that two windows of one stretch may disagree on the track's time
constexpr double kEchoOverlap = 0.5;  ///< of the shorter stretch
constexpr double kBridge = 15.0;      ///< talk-over or drop-out within one stretch

/// True when `next` goes on where `stretch` runs.
bool continues(const Alignment& stretch, const Alignment& next) {
  return stretch.track_id == next.track_id && next.start_s <= stretch.end_s + kBridge &&
         std::abs(stretch.track_time(next.start_s) - next.track_start_s) <
             kSameClock + 0.01 * (next.start_s - stretch.start_s);
}

/// Keeps the stretch's beginning and takes over the newer window's clock.
void extend(Alignment& stretch, const Alignment& next) {
  const double begin = stretch.start_s;
  const double tempo =
      (next.track_start_s - stretch.track_start_s) / (next.start_s - stretch.start_s);
  stretch.end_s = next.end_s;
  if (next.start_s - begin > kWindow / 2)
    stretch.tempo = tempo;  // a long base measures tempo better than one window
  if (next.score > stretch.score) {
    stretch.score = next.score;
    stretch.confidence = next.confidence;
    stretch.found_share = next.found_share;
    stretch.pitch = next.pitch;
  }
}

std::vector<Alignment> join_stretches(std::span<const std::vector<Alignment>> found) {
  std::vector<Alignment> stretches;
  for (const std::vector<Alignment>& window : found) {
    for (const Alignment& next : window) {
      const auto open =
          std::find_if(stretches.rbegin(), stretches.rend(),
                       [&](const Alignment& stretch) { return continues(stretch, next); });
      if (open == stretches.rend()) {
        stretches.push_back(next);
      } else if (next.start_s > open->start_s) {
        extend(*open, next);
      }
    }
  }
  return stretches;
}

/// Moves the beginning of an alignment without changing its clock.
void move_to(Alignment& alignment, const Extent& extent) {
  alignment.track_start_s = alignment.track_time(extent.start_s);
  alignment.start_s = extent.start_s;
  alignment.end_s = extent.end_s;
}

/// A passage that a song repeats also matches elsewhere in it: of two stretches of one track that
/// are heard at one time, the longer is the play and the other its echo.
void drop_echoes(std::vector<Alignment>& stretches) {
  const auto length = [](const Alignment& a) { return a.end_s - a.start_s; };
  std::stable_sort(stretches.begin(), stretches.end(),
                   [&](const Alignment& a, const Alignment& b) { return length(a) > length(b); });
  std::vector<Alignment> kept;
  for (const Alignment& stretch : stretches) {
    const bool echo = std::any_of(kept.begin(), kept.end(), [&](const Alignment& longer) {
      const double overlap =
          std::min(longer.end_s, stretch.end_s) - std::max(longer.start_s, stretch.start_s);
      return longer.track_id == stretch.track_id && overlap > kEchoOverlap * length(stretch);
    });
    if (!echo) kept.push_back(stretch);
  }
  stretches = std::move(kept);
}

}  // namespace

std::vector<MatchQuery> cue_windows(const Heard& heard, double duration_s) {
  if (duration_s <= kShortRecording) return {{heard, 0, duration_s}};
  std::vector<MatchQuery> windows;
  for (double start = 0; start < duration_s; start += kHop) {
    const double end = std::min(start + kWindow, duration_s);
    if (end - start < kHop && start > 0) break;  // the window before has heard it
    windows.push_back({heard, start, end});
  }
  return windows;
}

std::vector<Alignment> join_cue_windows(Matcher& matcher, const Index& index,
                                        std::span<const Peak> peaks, double duration_s,
                                        std::span<const std::vector<Alignment>> found) {
  if (duration_s <= kShortRecording) return found.front();
  std::vector<Alignment> stretches = join_stretches(found);
  for (Alignment& stretch : stretches) {
    const double from = std::max(0.0, stretch.start_s - kBridge);
    const double to = std::min(duration_s, stretch.end_s + kBridge);
    const auto evidence = matcher.trace(index, peaks, from, to, stretch);
    Extent extent = find_extent(evidence, stretch, kBridge);
    extent.end_s = std::min(extent.end_s, duration_s);
    move_to(stretch, extent);
  }
  drop_echoes(stretches);
  std::stable_sort(stretches.begin(), stretches.end(), [](const Alignment& a, const Alignment& b) {
    return a.start_s != b.start_s ? a.start_s < b.start_s : a.track_id < b.track_id;
  });
  return stretches;
}

std::vector<Alignment> make_cue_sheet(Matcher& matcher, const Index& index, const Heard& heard,
                                      double duration_s, const MatchOptions& options) {
  std::vector<std::vector<Alignment>> found;
  for (const MatchQuery& window : cue_windows(heard, duration_s)) {
    found.push_back(matcher.match(index, window.heard, window.start_s, window.end_s, options));
  }
  return join_cue_windows(matcher, index, heard.peaks, duration_s, found);
}

}  // namespace spintag::fingerprint
