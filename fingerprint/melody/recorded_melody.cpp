// fingerprint/melody/recorded_melody.cpp - the melody of a recording, as the catalogue keeps it.
#include "fingerprint/melody/recorded_melody.h"

#include "fingerprint/melody/note_segments.h"
#include "fingerprint/melody/phrases.h"

namespace spintag::fingerprint {

Melody recorded_melody(const Contour& pitch_track) {
  Melody melody;
  melody.notes = segment_notes(pitch_track);
  melody.phrases = phrase_starts(melody.notes);
  return melody;
}

}  // namespace spintag::fingerprint
