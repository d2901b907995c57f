// fingerprint/melody/pitch_classes.cpp - a contour as pitch classes.
#include "fingerprint/melody/pitch_classes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace spintag::fingerprint {

float tuning_of(const Contour& contour) {
  double re = 0;
  double im = 0;
  for (const float pitch : contour) {
    if (pitch <= 0) continue;
    re += std::cos(2 * std::numbers::pi * pitch);
    im += std::sin(2 * std::numbers::pi * pitch);
  }
  if (re == 0 && im == 0) return 0;
  return static_cast<float>(std::atan2(im, re) / (2 * std::numbers::pi));
}

std::vector<PitchClass> pitch_classes(const Contour& contour, float tuning, double frames) {
  std::vector<PitchClass> classes;
  for (std::size_t step = 0;; ++step) {
    const auto begin = static_cast<std::size_t>(static_cast<double>(step) * frames);
    const auto end = static_cast<std::size_t>(static_cast<double>(step + 1) * frames);
    if (end > contour.size()) break;
    std::array<std::size_t, 12> counts{};
    std::size_t voiced = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (contour[i] <= 0) continue;
      const long semitone = std::lround(contour[i] - tuning);
      ++counts[static_cast<std::size_t>((semitone % 12 + 12) % 12)];
      ++voiced;
    }
    const auto most = std::max_element(counts.begin(), counts.end()) - counts.begin();
    classes.push_back(2 * voiced >= end - begin ? static_cast<PitchClass>(most) : kNoClass);
  }
  return classes;
}

std::vector<PitchClass> pitch_classes(const Melody& melody) {
  const Contour contour = contour_of(melody);
  return pitch_classes(contour, tuning_of(contour), kClassFrames);
}

}  // namespace spintag::fingerprint
