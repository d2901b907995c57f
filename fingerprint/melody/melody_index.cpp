// fingerprint/melody/melody_index.cpp - the melodies that a hum is looked for in, in memory.
#include "fingerprint/melody/melody_index.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace spintag::fingerprint {

float coarse_pitch(float semitones) {
  constexpr float kLimit = kernels::kLargestScaledSample;
  return std::clamp(std::nearbyint((semitones - kMiddlePitch) * kCoarseSteps), -kLimit, kLimit);
}

std::int16_t fine_pitch(float semitones) {
  return static_cast<std::int16_t>(std::lround(std::clamp(semitones, 0.0F, 127.0F) * 100));
}

namespace {

/// Where linear scaling lets a hum begin: at the sample in which a note does, and at the one
/// before, since what is rounded to one sample begins late as often as early. Of generated harder
/// hums as many are nominated as from every sample; from the notes alone it is 2 to 4 in 100 less.
std::vector<std::uint32_t> starts_of(const Melody& melody, std::size_t samples) {
  std::vector<std::uint32_t> starts;
  for (const MelodyNote& note : melody.notes) {
    const long at = std::lround(note.onset_s * kContourRate / kCoarseFrames);
    for (const long start : {at - 1, at}) {
      const bool inside = start >= 0 && start < static_cast<long>(samples);
      const auto sample = static_cast<std::uint32_t>(start);
      if (inside && (starts.empty() || starts.back() < sample)) starts.push_back(sample);
    }
  }
  return starts;
}

}  // namespace

std::uint32_t MelodyIndex::add(Melody melody) {
  const Contour contour = contour_of(melody);
  if (contour.empty()) throw std::invalid_argument("a melody shorter than a frame");
  std::vector<float> coarse;
  for (std::size_t i = 0; i < contour.size(); i += kCoarseFrames) {
    coarse.push_back(coarse_pitch(contour[std::min(i + kCoarseFrames / 2, contour.size() - 1)]));
  }
  coarse_.add(coarse, starts_of(melody, coarse.size()));
  for (const float pitch : contour) fine_.push_back(fine_pitch(pitch));
  fine_firsts_.push_back(static_cast<std::uint32_t>(fine_.size()));
  melodies_.push_back(std::move(melody));
  return static_cast<std::uint32_t>(melodies_.size() - 1);
}

}  // namespace spintag::fingerprint
