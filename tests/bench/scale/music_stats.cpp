// tests/bench/scale/music_stats.cpp - the file of real recordings' dense peaks.
#include "tests/bench/scale/music_stats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace spintag::bench {
namespace {

constexpr std::array<char, 8> kMagic{'S', 'P', 'S', 'T', 'A', 'T', 'S', '1'};
constexpr double kTimeStep = 0.001;
constexpr double kFreqStep = 0.1;
constexpr double kSalienceStep = 0.25;
constexpr std::int64_t kMaxDelta = 255;

struct TrackHeader {
  double duration_s = 0;
  std::uint64_t words = 0;
};

std::uint32_t code(double value, double step, std::uint32_t most) {
  return static_cast<std::uint32_t>(std::clamp<double>(std::round(value / step), 0, most));
}

std::vector<std::uint32_t> packed(const MusicTrack& track) {
  std::vector<std::uint32_t> words;
  std::int64_t clock = 0;
  for (const fingerprint::Peak& peak : track.peaks) {
    const auto time = std::max<std::int64_t>(std::llround(peak.time_s / kTimeStep), clock);
    for (; time - clock > kMaxDelta; clock += kMaxDelta) words.push_back(kMaxDelta);
    words.push_back(static_cast<std::uint32_t>(time - clock) |
                    code(peak.freq_hz, kFreqStep, 0xFFFF) << 8 |
                    code(peak.salience_db, kSalienceStep, 0xFF) << 24);
    clock = time;
  }
  return words;
}

}  // namespace

void write_stats(const std::filesystem::path& file, const std::vector<MusicTrack>& tracks) {
  std::ofstream out(file, std::ios::binary);
  out.write(kMagic.data(), kMagic.size());
  for (const MusicTrack& track : tracks) {
    const std::vector<std::uint32_t> words = packed(track);
    const TrackHeader header{track.duration_s, words.size()};
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    out.write(reinterpret_cast<const char*>(words.data()),
              static_cast<std::streamsize>(words.size() * sizeof(words[0])));
  }
  out.close();
  if (!out) throw std::runtime_error(file.string() + ": cannot be written");
}

std::vector<MusicTrack> read_stats(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file.string() + ": cannot be read");
  std::array<char, 8> magic{};
  if (!in.read(magic.data(), magic.size()) || magic != kMagic)
    throw std::runtime_error(file.string() + ": is no file of music statistics");
  std::vector<MusicTrack> tracks;
  for (TrackHeader header; in.read(reinterpret_cast<char*>(&header), sizeof header);) {
    MusicTrack& track = tracks.emplace_back();
    track.duration_s = header.duration_s;
    std::int64_t clock = 0;
    for (std::uint64_t i = 0; i < header.words; ++i) {
      std::uint32_t word = 0;
      if (!in.read(reinterpret_cast<char*>(&word), sizeof word))
        throw std::runtime_error(file.string() + ": is cut short");
      clock += word & 0xFF;
      const std::uint32_t freq = word >> 8 & 0xFFFF;
      if (freq == 0) continue;
      track.peaks.push_back({.time_s = static_cast<double>(clock) * kTimeStep,
                             .freq_hz = static_cast<float>(freq * kFreqStep),
                             .salience_db = static_cast<float>((word >> 24) * kSalienceStep)});
    }
  }
  return tracks;
}

}  // namespace spintag::bench
