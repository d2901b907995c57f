// fingerprint/melody/note_alignment.h - how well a hum can be explained as a melody sung note by
// note: the judge of the few candidates that contours leave.
//
// A segment model: every note of the melody takes some frames of the hum, and their mean pitch and
// their number are compared with what the singer's key and tempo let expect. A note that is sung
// wrong is one mistake however long it is held, where warping of contours counts its frames; rhythm
// counts too, which warping forgives; and key and tempo may drift, since each path carries its own
// estimate of both. The least sum of squared errors over their variances is found by dynamic
// programming over (note, frame), as in a hidden semi-Markov model: L. R. Rabiner, "A tutorial on
// hidden Markov models", Proc. IEEE 77 (1989), section IV.D.
#pragma once

#include <cstddef>
#include <vector>

#include "fingerprint/melody/melody.h"
#include "fingerprint/melody/note_alignment_model.h"

namespace spintag::fingerprint {

/// Where and how a singer may have begun.
struct SungFrom {
  std::size_t note = 0;  ///< first note, of which any part may be sung
  float tempo = 1;       ///< of the hum over the melody's
  float key = 0;         ///< semitones that the hum is above the melody
};

/// A hum, prepared. Single-threaded: it keeps its tables from one call to the next.
class NoteAlignment {
 public:
  /// @param hum  bridged, not empty
  explicit NoteAlignment(const Contour& hum, const NoteAlignmentParams& params = {});

  /// The cost of the cheapest way to sing the hum from there: minus the logarithm of a likelihood,
  /// up to a constant that is the same for every melody.
  /// @return infinity where the melody ends long before the hum
  float cost(const Melody& melody, const SungFrom& from);

 private:
  /// Paths by the frame at which their newest note ends, 0 = the hum's begin.
  struct Paths {
    std::vector<float> costs;
    std::vector<float> keys;          ///< semitones, as each path has it
    std::vector<float> frames_per_s;  ///< frames of the hum a second of the melody, likewise
  };
  using Step = note_alignment::Step;

  void sing(const Paths& before, const Step& step, std::size_t from, std::size_t to);
  void extend(const Paths& before, std::size_t begin, const Step& step);
  const float* row(const std::vector<float>& table, std::size_t begin) const {
    return table.data() + begin * (frames_ + 1);
  }

  NoteAlignmentParams params_;
  std::size_t frames_;
  /// Of a note that begins at a frame and has so many, [frames, frames + 1]: mean pitch above
  /// kMiddlePitch, and what its frames cost for lying around it.
  std::vector<float> means_;
  std::vector<float> within_;
  std::vector<float> logarithms_;
  Paths row_;
  Paths one_before_;
  Paths two_before_;
  float best_ = 0;   ///< of the paths that have sung the whole hum
  float limit_ = 0;  ///< paths at least as dear are dropped
};

}  // namespace spintag::fingerprint
