// fingerprint/melody/melody_index.h - the melodies that a hum is looked for in, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/melody/melody.h"
#include "kernels/linear_scaling.h"

namespace spintag::fingerprint {

/// Linear scaling looks at every fourth frame of a contour, in eighths of a semitone above
/// kMiddlePitch, from where notes begin.
inline constexpr std::size_t kCoarseFrames = 4;
inline constexpr float kCoarseSteps = 8;
inline constexpr float kMiddlePitch = 66;

/// A pitch as linear scaling compares it: an integer, three octaves from the middle at most.
float coarse_pitch(float semitones);

/// A pitch as warping compares it, in hundredths of a semitone.
std::int16_t fine_pitch(float semitones);

/// Melodies with their contours, numbered as they were added; some 7 KiB a minute. Reading is safe
/// from several threads as long as nobody adds.
class MelodyIndex {
 public:
  /// @return its number
  /// @throws std::invalid_argument for a melody without notes or of less than a frame
  std::uint32_t add(Melody melody);

  std::size_t size() const { return melodies_.size(); }
  const Melody& melody(std::size_t number) const { return melodies_[number]; }

  /// Every contour as linear scaling compares it, with the samples at which a hum may begin.
  const kernels::ScalingSequences& coarse() const { return coarse_; }

  /// All contours at kContourRate as fine_pitch(), one after another.
  std::span<const std::int16_t> fine() const { return fine_; }
  std::uint32_t fine_first(std::size_t number) const { return fine_firsts_[number]; }
  std::uint32_t fine_count(std::size_t number) const {
    return fine_firsts_[number + 1] - fine_firsts_[number];
  }

 private:
  std::vector<Melody> melodies_;
  kernels::ScalingSequences coarse_;
  std::vector<std::int16_t> fine_;
  std::vector<std::uint32_t> fine_firsts_ = {0};
};

}  // namespace spintag::fingerprint
