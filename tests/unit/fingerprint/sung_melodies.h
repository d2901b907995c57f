// tests/unit/fingerprint/sung_melodies.h - made melodies, and singers who make known mistakes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

inline Melody melody_of(const std::vector<float>& pitches, const std::vector<float>& lengths_s) {
  Melody melody;
  float time_s = 0;
  for (std::size_t i = 0; i < pitches.size(); ++i) {
    melody.notes.push_back({time_s, lengths_s[i], pitches[i]});
    time_s += lengths_s[i];
  }
  return melody;
}

/// A tune of steps and leaps in quarters, eighths and sixteenths.
inline Melody random_melody(unsigned seed, std::size_t notes = 80) {
  std::mt19937 random(seed);
  std::vector<float> pitches;
  std::vector<float> lengths_s;
  float pitch = 65;
  for (std::size_t i = 0; i < notes; ++i) {
    pitch += static_cast<float>(static_cast<int>(random() % 9) - 4);
    pitch = std::min(80.0F, std::max(50.0F, pitch));
    pitches.push_back(pitch);
    lengths_s.push_back(random() % 3 == 0 ? 0.5F : 0.25F);
  }
  return melody_of(pitches, lengths_s);
}

struct Singer {
  std::size_t from = 0;
  std::size_t notes = 20;
  float tempo = 1;
  float key = 0;
  float wrong_semitones = 0;  ///< every third note up, every third down
  float key_drift = 0;        ///< semitones a note
  float tempo_drift = 0;      ///< of the duration, a note
  std::size_t left_out = 0;   ///< note that is not sung; 0 = none
};

inline Contour sung(const Melody& melody, const Singer& singer) {
  Contour contour;
  double until_s = 0;
  for (std::size_t i = 0; i < singer.notes; ++i) {
    const MelodyNote& note = melody.notes[singer.from + i];
    if (singer.left_out != 0 && i == singer.left_out) continue;
    const auto number = static_cast<float>(i);
    until_s += note.duration_s / singer.tempo * (1 + singer.tempo_drift * number);
    const float wrong = i % 3 == 1   ? singer.wrong_semitones
                        : i % 3 == 2 ? -singer.wrong_semitones
                                     : 0;
    while (static_cast<double>(contour.size()) + 0.5 < until_s * kContourRate) {
      contour.push_back(note.pitch + singer.key + singer.key_drift * number + wrong);
    }
  }
  return contour;
}

}  // namespace spintag::fingerprint
