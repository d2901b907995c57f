// fingerprint/melody/hum_tempo.cpp - a hum made ready: smoothed, and at another tempo.
#include "fingerprint/melody/hum_tempo.h"

#include <algorithm>
#include <cstddef>

#include "fingerprint/melody/median.h"
#include "fingerprint/melody/melody_index.h"

namespace spintag::fingerprint {

void smooth(Contour& contour) {
  for (std::size_t i = 1; i + 1 < contour.size(); ++i) {
    const float before = contour[i - 1];  // smoothed already
    const float after = contour[i + 1];
    contour[i] = std::clamp(contour[i], std::min(before, after), std::max(before, after));
  }
}

std::vector<float> at_tempo(const Contour& hum, double tempo) {
  const double frames_a_sample = kCoarseFrames / tempo;
  std::vector<float> samples;
  std::vector<float> around;
  for (std::size_t i = 0; samples.size() < kernels::kLongestScaledQuery; ++i) {
    const double begin = static_cast<double>(i) * frames_a_sample;
    const auto first = static_cast<std::size_t>(begin + 0.5);
    const auto last = std::max(first + 1, static_cast<std::size_t>(begin + frames_a_sample + 0.5));
    if (last > hum.size()) break;
    around.assign(hum.begin() + first, hum.begin() + last);
    samples.push_back(coarse_pitch(median(around)));
  }
  return samples;
}

}  // namespace spintag::fingerprint
