// tests/bench/scale/music_stats.h - dense peaks of real recordings in a small file: what synthetic
// catalogues are drawn from.
#pragma once

#include <filesystem>
#include <vector>

#include "fingerprint/peak.h"

namespace spintag::bench {

/// One recording's dense peaks, in time order.
struct MusicTrack {
  double duration_s = 0;
  std::vector<fingerprint::Peak> peaks;
};

/// Four bytes a peak: milliseconds since the one before (8 bits; frequency 0 moves the clock
/// alone), frequency in 0.1 Hz (16 bits), salience in 0.25 dB (8 bits). Native byte order.
/// @throws std::runtime_error naming the file
void write_stats(const std::filesystem::path& file, const std::vector<MusicTrack>& tracks);
std::vector<MusicTrack> read_stats(const std::filesystem::path& file);

}  // namespace spintag::bench
