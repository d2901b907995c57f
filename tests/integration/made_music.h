// tests/integration/made_music.h - songs that nobody has recorded, made from a seed.
#pragma once

#include <cstdint>
#include <filesystem>

namespace spintag::test {

/// Writes a mono 16-bit WAV at 22,050 Hz. The same seed gives the same song; two seeds differ in
/// tempo, key and tune.
void write_song(const std::filesystem::path& wav, std::uint32_t seed, double seconds);

/// How somebody plays a tune.
struct Performance {
  std::uint32_t tune = 1;  ///< the same number, the same notes
  std::uint32_t band = 1;  ///< another number, other instruments and accompaniment
  int key = 0;             ///< semitones above the tune's own
  double tempo = 1;        ///< over the tune's own
};

/// Writes a WAV as write_song() does: the tune over a bass, chords and drums.
void write_performance(const std::filesystem::path& wav, const Performance& performance,
                       double seconds);

/// A WAV without any sound: digital silence.
void write_silence(const std::filesystem::path& wav, double seconds);

}  // namespace spintag::test
