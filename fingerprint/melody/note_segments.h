// fingerprint/melody/note_segments.h - the notes of a pitch track.
#pragma once

#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

struct SegmentParams {
  float within_sd = 0.35F;   ///< semitones, of frames around their note's pitch: vibrato, glides
  float note_cost = 4;       ///< of a note more, in half squared deviations
  int shortest_frames = 3;   ///< some 100 ms: a glide between two notes is shorter
  int longest_frames = 160;  ///< a longer note becomes several
};

/// Cuts each voiced stretch into the notes that explain it best: the sum over notes of note_cost
/// and of their frames' squared deviations from the note's mean, over twice the variance, is least.
/// Exact, by dynamic programming over where notes end (Bellman 1961, "On the approximation of
/// curves by line segments using dynamic programming", with constants for lines). Stretches shorter
/// than the shortest note are left out.
/// @param pitch_track  0 = unvoiced
/// @return notes in order; times in seconds of the track
std::vector<MelodyNote> segment_notes(const Contour& pitch_track, const SegmentParams& params = {});

}  // namespace spintag::fingerprint
