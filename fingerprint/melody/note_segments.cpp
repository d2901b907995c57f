// fingerprint/melody/note_segments.cpp - the notes of a pitch track.
#include "fingerprint/melody/note_segments.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

namespace spintag::fingerprint {
namespace {

/// Notes of one voiced stretch that begins at frame `first`.
void add_notes(std::span<const float> pitches, std::size_t first, const SegmentParams& params,
               std::vector<MelodyNote>& notes) {
  const auto shortest = static_cast<std::size_t>(params.shortest_frames);
  const auto longest = static_cast<std::size_t>(params.longest_frames);
  const std::size_t count = pitches.size();
  if (count < shortest) return;
  std::vector<double> sums(count + 1);
  std::vector<double> squares(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const double pitch = pitches[i] - pitches[0];
    sums[i + 1] = sums[i] + pitch;
    squares[i + 1] = squares[i] + pitch * pitch;
  }
  const double weight = 1 / (2 * double{params.within_sd} * params.within_sd);
  std::vector<double> costs(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begins(count + 1);
  costs[0] = 0;
  for (std::size_t end = shortest; end <= count; ++end) {
    for (std::size_t begin = end - std::min(end, longest); begin + shortest <= end; ++begin) {
      const double sum = sums[end] - sums[begin];
      const double deviation =
          squares[end] - squares[begin] - sum * sum / static_cast<double>(end - begin);
      const double cost = costs[begin] + params.note_cost + weight * std::max(0.0, deviation);
      if (cost >= costs[end]) continue;
      costs[end] = cost;
      begins[end] = begin;
    }
  }
  const std::size_t known = notes.size();
  for (std::size_t end = count; end > 0; end = begins[end]) {
    const std::size_t begin = begins[end];
    std::vector<float> own(pitches.begin() + begin, pitches.begin() + end);
    std::nth_element(own.begin(), own.begin() + own.size() / 2, own.end());
    notes.push_back({static_cast<float>(static_cast<double>(first + begin) / kContourRate),
                     static_cast<float>(static_cast<double>(end - begin) / kContourRate),
                     own[own.size() / 2]});
  }
  std::reverse(notes.begin() + known, notes.end());
}

}  // namespace

std::vector<MelodyNote> segment_notes(const Contour& pitch_track, const SegmentParams& params) {
  std::vector<MelodyNote> notes;
  for (std::size_t i = 0; i < pitch_track.size(); ++i) {
    if (pitch_track[i] <= 0) continue;
    std::size_t end = i;
    while (end < pitch_track.size() && pitch_track[end] > 0) ++end;
    add_notes(std::span(pitch_track).subspan(i, end - i), i, params, notes);
    i = end;
  }
  return notes;
}

}  // namespace spintag::fingerprint
