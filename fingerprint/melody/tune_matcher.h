// fingerprint/melody/tune_matcher.h - which known melody a mix plays.
// Source: J.-S. R. Jang, H.-R. Lee, "Hierarchical filtering method for content-based music
// retrieval via acoustic input", ACM Multimedia 2001, for linear scaling from every start; what is
// compared are pitch classes and what is counted is agreement, since the pitch of a voice in a mix
// is often that of another voice, or an octave off: an error costs no more than its own time.
//
// MelodyMatcher, made for hums, sums squared errors of pitch: of 59 windows of played variants
// among 16 recordings it found 13, this 165 of 180 among 91 recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "fingerprint/melody/melody.h"
#include "fingerprint/melody/tune_index.h"

namespace spintag::fingerprint {

struct TuneMatchParams {
  double slowest = 0.70;  ///< tempo of the mix over the melody's
  double fastest = 1.43;
  int tempi_per_octave =
      16;                   ///< a start is found within 2 % of its tempo: a quarter second of 24 s
  double overhang = 0.125;  ///< share of the mix that may lie beyond the melody's end
  std::size_t looked_at = 12;     ///< melodies that are compared change by change
  double same_tune = 0.6;         ///< two melodies that agree in so much of the place are one tune
  std::size_t least_voiced = 60;  ///< steps of 128 ms; with less nothing is compared
};

/// A place of a melody that is like the mix.
struct TuneMatch {
  std::uint32_t melody = 0;  ///< number in the index
  float agreement = 0;       ///< share of the voiced steps that have the melody's pitch class
  float changes = 0;  ///< share of the mix's changes of class that the melody makes there, too
  float start_s = 0;  ///< in the melody
  float tempo = 1;    ///< of the mix over the melody's
  int key = 0;        ///< semitones that the mix is above the melody, -5 to 6: octaves do not count
};

/// What a mix most likely plays, and what tells how sure that is.
struct TuneAnswer {
  TuneMatch best;
  float second = 0;          ///< agreement + changes of the best match that is another tune
  float changes_a_s = 0;     ///< of pitch class in the mix
  float voiced = 0;          ///< share of the mix's steps
  std::size_t melodies = 0;  ///< that were compared
};

/// Single-threaded.
class TuneMatcher {
 public:
  /// @param index  outlives the matcher
  explicit TuneMatcher(const TuneIndex& index, const TuneMatchParams& params = {});

  /// @param mix   as predominant_pitch() gives it; what is longer than 30 s is cut
  /// @param stop  ends it soon, without an answer
  /// @return nothing if too little of it is voiced or there is no melody of half its length
  std::optional<TuneAnswer> match(const Contour& mix, const std::stop_token& stop = {}) const;

 private:
  const TuneIndex& index_;
  TuneMatchParams params_;
};

}  // namespace spintag::fingerprint
