// fingerprint/melody/melody_matcher.h - which melody somebody hums.
// Source: C. Xiao et al., "Fast and accurate query by humming with GPU", 2014, Algorithm 1 (linear
// scaling picks the tempo, warping compares, a halving search finds the transposition), from every
// note of the melody instead of its head; note_alignment.h then judges the few that are left.
//
// Read to the letter, the algorithm compares with the head of a melody only, takes the mean of all
// of both sequences away and never moves the middle of its search, and Algorithm 3, line 13
// misprints s_pan / 2. Here every note is a start, a transposition is what is taken away, and the
// search goes on around the best of three.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fingerprint/melody/melody_index.h"
#include "fingerprint/melody/note_alignment.h"
#include "fingerprint/melody/permutation_index.h"
#include "fingerprint/melody/resident_melodies.h"
#include "kernels/device.h"

namespace spintag::fingerprint {

struct MelodyMatchParams {
  double share = 0.5;     ///< of the melodies that the fast match lets through
  double slowest = 0.55;  ///< tempo of a hum over the melody's
  double fastest = 1.75;
  int tempi_per_octave = 8;
  double longest_s = 15;  ///< what comes later in a hum is not compared
  std::size_t starts_per_melody = 3;
  /// Starts that are warped at all, and that are left when the span of the search for the
  /// transposition is 100, 50, 25 and less hundredths of a semitone. Down to 100 every second frame
  /// is compared, a quarter of the cells.
  std::size_t warped = 20'000;
  std::size_t left_at_100 = 6'000;
  std::size_t left_at_50 = 2'000;
  std::size_t left_at_25 = 500;
  /// The search ends when its span has become less: what remains the judge does not see.
  std::int32_t finest_span = 13;
  std::size_t judged = 150;  ///< starts that are aligned note by note
  /// The best of those, which are aligned from the note before and the one after as well.
  std::size_t judged_around = 50;
  NoteAlignmentParams notes = {};
  unsigned threads = 0;  ///< of the processor; 0 = as many as it has cores
  bool serial = false;   ///< every kernel as it is defined, on one core: to compare with
};

struct MelodyMatch {
  std::uint32_t melody = 0;  ///< number in the index
  float cost = 0;            ///< of NoteAlignment, where `judged`; else warping, a cell
  bool judged = false;       ///< those that are come before those that are not
  float start_s = 0;         ///< in the melody
  float tempo = 1;           ///< of the hum over the melody's
  float transposition = 0;   ///< semitones that the hum is above the melody

  friend bool operator==(const MelodyMatch&, const MelodyMatch&) = default;
};

/// Finds melodies. Single-threaded, beside the threads it starts for the time of a call.
class MelodyMatcher {
 public:
  /// @param index  outlives the matcher
  /// @param fast   of the same melodies, outlives the matcher: only the share that it nominates is
  /// looked at. Without it all are.
  explicit MelodyMatcher(const MelodyIndex& index, const MelodyMatchParams& params = {},
                         const PermutationIndex* fast = nullptr);

  /// @param pitch_track  of a hum, as track_pitch() makes it
  /// @return every melody that was warped, once, best first; empty if less than
  /// kShortestHum frames lie between the hum's first and last voiced one. The same from every
  /// device; the first call with a CUDA device takes the melodies there, where they stay.
  /// @throws DeviceError if the device fails
  std::vector<MelodyMatch> match(kernels::Device& device, const Contour& pitch_track);

  static constexpr std::size_t kShortestHum = 48;

 private:
  const MelodyIndex& index_;
  MelodyMatchParams params_;
  const PermutationIndex* fast_;
  std::optional<ResidentMelodies> resident_;  ///< where match() last looked for them
};

}  // namespace spintag::fingerprint
