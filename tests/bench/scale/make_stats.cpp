// tests/bench/scale/make_stats.cpp - makes the file of statistics for spintag_scale_bench from a
// folder of music.
//
// usage: spintag_scale_stats LIST OUT [SECONDS]
//   LIST     text file, one recording a line, relative to itself; unreadable ones are skipped aloud
//   OUT      the file of statistics
//   SECONDS  of each recording are kept, from its start (120)
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fingerprint/audio/reader.h"
#include "fingerprint/extractor.h"
#include "tests/bench/scale/music_stats.h"

namespace {

namespace fp = spintag::fingerprint;
using spintag::bench::MusicTrack;

/// Shorter recordings are jingles and sounds, not songs.
constexpr double kShortest = 20;

MusicTrack peaks_of(const std::filesystem::path& file, double seconds) {
  fp::AudioReader reader(file.string(), {});
  fp::PeakExtractor extractor;
  MusicTrack track;
  std::vector<float> samples;
  const auto most = static_cast<std::size_t>(seconds * 11025);
  std::size_t pushed = 0;
  while (pushed < most && reader.read(samples)) {
    extractor.push(samples, track.peaks);
    pushed += samples.size();
    samples.clear();
  }
  extractor.finish(track.peaks);
  track.duration_s = static_cast<double>(pushed) / 11025;
  return track;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: spintag_scale_stats LIST OUT [SECONDS]\n");
    return 2;
  }
  try {
    const std::filesystem::path list = argv[1];
    const double seconds = argc > 3 ? std::stod(argv[3]) : 120;
    std::ifstream in(list);
    std::vector<MusicTrack> tracks;
    std::size_t peaks = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.empty()) continue;
      try {
        MusicTrack track = peaks_of(list.parent_path() / line, seconds);
        if (track.duration_s < kShortest) continue;
        peaks += track.peaks.size();
        tracks.push_back(std::move(track));
      } catch (const fp::AudioError& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
    }
    spintag::bench::write_stats(argv[2], tracks);
    std::printf("%zu recordings, %zu peaks\n", tracks.size(), peaks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spintag_scale_stats: %s\n", error.what());
    return 1;
  }
  return 0;
}
