// fingerprint/melody/melody.cpp - a tune as pitch over time.
#include "fingerprint/melody/melody.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spintag::fingerprint {

Contour contour_of(const Melody& melody) {
  Contour contour;
  if (melody.notes.empty()) return contour;
  const auto frames = static_cast<std::size_t>(std::lround(melody.length_s() * kContourRate));
  contour.reserve(frames);
  std::size_t note = 0;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const double time_s = (static_cast<double>(frame) + 0.5) / kContourRate;
    while (note + 1 < melody.notes.size() && melody.notes[note + 1].onset_s <= time_s) ++note;
    contour.push_back(melody.notes[note].pitch);
  }
  return contour;
}

Contour bridge(const Contour& pitch_track) {
  const auto voiced = [](float pitch) { return pitch > 0; };
  const auto first = std::find_if(pitch_track.begin(), pitch_track.end(), voiced);
  const auto last = std::find_if(pitch_track.rbegin(), pitch_track.rend(), voiced).base();
  if (first >= last) return {};
  Contour contour(first, last);
  for (std::size_t i = 1; i < contour.size(); ++i) {
    if (!voiced(contour[i])) contour[i] = contour[i - 1];
  }
  return contour;
}

}  // namespace spintag::fingerprint
