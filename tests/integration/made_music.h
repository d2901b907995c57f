// tests/integration/made_music.h - songs that nobody has recorded, made from a seed.
#pragma once

#include <cstdint>
#include <filesystem>

namespace spintag::test {

/// Writes a mono 16-bit WAV at 22,050 Hz. The same seed gives the same song; two seeds differ in
/// tempo, key and tune.
void write_song(const std::filesystem::path& wav, std::uint32_t seed, double seconds);

/// A WAV without any sound: digital silence.
void write_silence(const std::filesystem::path& wav, double seconds);

}  // namespace spintag::test
