// fingerprint/melody/main_melody.cpp - the tune of a song of several voices.
#include "fingerprint/melody/main_melody.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "fingerprint/melody/phrases.h"

namespace spintag::fingerprint {

namespace {

constexpr double kChordSpread_s = 0.03;  // keys of one chord are not struck in the same millisecond
constexpr double kLowestMean = 40;       // a bass
constexpr double kHighestMean = 80;      // a flute
constexpr double kMostVariety_bits = 3;  // as much as eight pitches that are equally frequent
constexpr double kWidestSung = 7;        // semitones

/// The highest notes of each chord, the longest of equal ones.
std::vector<MidiNote> tops(std::span<const MidiNote> notes) {
  std::vector<MidiNote> kept;
  double chord_s = 0;  // onset of the chord that the last kept note is of
  for (const MidiNote& note : notes) {
    if (note.duration_s <= 0) continue;
    if (kept.empty() || note.onset_s - chord_s > kChordSpread_s) {
      kept.push_back(note);
      chord_s = note.onset_s;
    } else if (std::pair(note.pitch, note.duration_s) >
               std::pair(kept.back().pitch, kept.back().duration_s)) {
      kept.back() = note;
    }
  }
  return kept;
}

double entropy_bits(std::span<const MelodyNote> notes) {
  std::array<double, 128> counts{};
  for (const MelodyNote& note : notes) ++counts[static_cast<std::size_t>(note.pitch)];
  double bits = 0;
  for (const double count : counts) {
    const double share = count / static_cast<double>(notes.size());
    if (share > 0) bits -= share * std::log2(share);
  }
  return bits;
}

double singable_share(std::span<const MelodyNote> notes) {
  if (notes.size() < 2) return 0;
  std::size_t sung = 0;
  for (std::size_t i = 1; i < notes.size(); ++i) {
    const double interval = std::abs(notes[i].pitch - notes[i - 1].pitch);
    sung += interval > 0 && interval <= kWidestSung;
  }
  return static_cast<double>(sung) / static_cast<double>(notes.size() - 1);
}

double score(const VoiceMeasures& of, const VoiceWeights& weights) {
  return weights.sounding * of.sounding + weights.single * of.single + weights.height * of.height +
         weights.variety * of.variety + weights.singable * of.singable;
}

}  // namespace

std::vector<MelodyNote> skyline(std::span<const MidiNote> notes) {
  std::vector<MidiNote> line;
  for (const MidiNote& note : tops(notes)) {
    if (!line.empty()) {
      MidiNote& before = line.back();
      const double overlap_s = before.onset_s + before.duration_s - note.onset_s;
      if (before.pitch > note.pitch && overlap_s > note.duration_s / 2) continue;
      if (overlap_s > 0) before.duration_s = note.onset_s - before.onset_s;
    }
    line.push_back(note);
  }
  std::vector<MelodyNote> melody;
  melody.reserve(line.size());
  for (const MidiNote& note : line) {
    melody.push_back({static_cast<float>(note.onset_s), static_cast<float>(note.duration_s),
                      static_cast<float>(note.pitch)});
  }
  return melody;
}

VoiceMeasures measure(const MidiVoice& voice, double song_s) {
  VoiceMeasures measures;
  const std::vector<MelodyNote> line = skyline(voice.notes);
  if (line.empty() || song_s <= 0) return measures;
  double sounding_s = 0;
  double pitches = 0;
  for (const MelodyNote& note : line) {
    sounding_s += note.duration_s;
    pitches += note.pitch;
  }
  const auto count = static_cast<double>(line.size());
  const double mean = pitches / count;
  measures.sounding = std::min(1.0, 2 * sounding_s / song_s);
  measures.single = count / static_cast<double>(voice.notes.size());
  measures.height = std::clamp((mean - kLowestMean) / (kHighestMean - kLowestMean), 0.0, 1.0);
  measures.variety = std::min(1.0, entropy_bits(line) / kMostVariety_bits);
  measures.singable = singable_share(line);
  return measures;
}

std::size_t leading_voice(const MidiSong& song, const VoiceWeights& weights) {
  std::size_t best = song.voices.size();
  double best_score = 0;
  for (std::size_t i = 0; i < song.voices.size(); ++i) {
    if (song.voices[i].drums) continue;
    const double score_here = score(measure(song.voices[i], song.length_s), weights);
    if (best == song.voices.size() || score_here > best_score) {
      best = i;
      best_score = score_here;
    }
  }
  if (best == song.voices.size()) throw MelodyError("nothing but drums");
  return best;
}

Melody main_melody(const MidiSong& song) {
  Melody melody;
  melody.notes = skyline(song.voices[leading_voice(song)].notes);
  if (melody.notes.empty()) throw MelodyError("no note that lasts");
  const float begin_s = melody.notes.front().onset_s;
  for (MelodyNote& note : melody.notes) note.onset_s -= begin_s;
  melody.phrases = phrase_starts(melody.notes);
  return melody;
}

}  // namespace spintag::fingerprint
