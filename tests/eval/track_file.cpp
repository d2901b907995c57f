// tests/eval/track_file.cpp - runs the tracker over a recorded programme, faster than real time and
// without sockets, and prints the plays: what `spintag run` would have said of it.
//
// usage: spintag_track_file INDEX CATALOGUE PROGRAMME [--log]
//   INDEX      snapshot file; made from CATALOGUE when it is missing
//   CATALOGUE  text file, one recording a line, relative to itself
//   PROGRAMME  audio file
// Prints track,start_s,end_s,detected_s (track = stem of the recording), and on stderr what
// happened when, with --log, and the cost.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "daemon/listener.h"
#include "fingerprint/audio/reader.h"
#include "fingerprint/extractor.h"
#include "fingerprint/index.h"
#include "fingerprint/reference.h"

namespace {

namespace fp = spintag::fingerprint;
namespace fs = std::filesystem;
using spintag::daemon::Findings;
using spintag::daemon::Listener;
using spintag::daemon::SegmentEdge;
using spintag::daemon::Spin;
using spintag::daemon::SpinEvent;

struct Print {
  fp::TrackId track_id;
  std::string stem;
  double duration_s;
  fp::PackedPeaks packed;
};

Print print_of(fp::TrackId track_id, const fs::path& file) {
  fp::AudioReader reader(file.string(), {});
  fp::PeakExtractor extractor;
  std::vector<float> samples;
  std::vector<fp::Peak> peaks;
  while (reader.read(samples)) {
    extractor.push(samples, peaks);
    samples.clear();
  }
  extractor.finish(peaks);
  const double duration_s = static_cast<double>(reader.counts().samples) / 11025;
  return {track_id, file.stem().string(), duration_s, fp::make_reference(peaks)};
}

void make_index(const fs::path& catalogue, const fs::path& snapshot) {
  std::ifstream in(catalogue);
  std::vector<Print> prints;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    const auto id = static_cast<fp::TrackId>(prints.size()) + 1;
    prints.push_back(print_of(id, catalogue.parent_path() / line));
  }
  std::vector<fp::IndexTrack> tracks;
  for (const Print& print : prints) {
    tracks.push_back({print.track_id, print.duration_s, print.packed, print.stem});
  }
  fp::Index::build(tracks)->save(snapshot, 1);
}

const char* name_of(SpinEvent::What what) {
  switch (what) {
    case SpinEvent::What::started:
      return "started";
    case SpinEvent::What::ended:
      return "ended";
    case SpinEvent::What::renamed:
      return "renamed";
    case SpinEvent::What::resumed:
      return "resumed";
    case SpinEvent::What::corrected:
      break;
  }
  return "corrected";
}

void log_findings(const Findings& findings, const fp::Index& index, double now_s) {
  for (const SpinEvent& event : findings.spins) {
    const Spin& spin = event.spin;
    std::fprintf(stderr, "%8.1f %-9s %s %.2f-%.2f track %.2f score %.1f\n", now_s,
                 name_of(event.what), std::string(index.metadata(spin.track_id)).c_str(),
                 spin.start_s, spin.end_s, spin.track_start_s, spin.score);
  }
  for (const SegmentEdge& edge : findings.segments) {
    std::fprintf(stderr, "%8.1f %s %s %.1f-%.1f\n", now_s,
                 edge.what == SegmentEdge::What::begun ? "begun" : "over", edge.kind.c_str(),
                 edge.start_s, edge.end_s);
  }
}

int track(const fs::path& snapshot, const std::string& programme, bool log) {
  const auto index = fp::Index::load(snapshot).index;
  spintag::daemon::MatchService matching(1);
  Listener listener(matching, [&] { return index; });
  fp::AudioReader reader(programme, {});
  std::map<std::uint64_t, Spin> plays;
  std::vector<float> samples;
  std::vector<float> piece;
  std::chrono::duration<double> busy{};
  const auto take = [&](const Findings& findings) {
    for (const SpinEvent& event : findings.spins) plays[event.spin.spin_id] = event.spin;
    if (log) log_findings(findings, *index, listener.stream_s());
  };
  while (reader.read(samples)) {
    // In pieces as a stream brings them, so that the time of detection is what it would be.
    for (std::size_t at = 0; at < samples.size(); at += 1024) {
      piece.assign(
          samples.begin() + static_cast<std::ptrdiff_t>(at),
          samples.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1024, samples.size())));
      Findings findings;
      const auto before = std::chrono::steady_clock::now();
      listener.push(piece, true, findings);
      busy += std::chrono::steady_clock::now() - before;
      for (SpinEvent& event : findings.spins) {
        if (event.what == SpinEvent::What::started) event.spin.detected_s = listener.stream_s();
        const auto known = plays.find(event.spin.spin_id);
        if (known != plays.end()) event.spin.detected_s = known->second.detected_s;
      }
      take(findings);
    }
    samples.clear();
  }
  Findings findings;
  listener.disconnect(findings);
  listener.end_all(findings);
  for (SpinEvent& event : findings.spins) {
    const auto known = plays.find(event.spin.spin_id);
    if (known != plays.end()) event.spin.detected_s = known->second.detected_s;
  }
  take(findings);
  std::printf("track,start_s,end_s,detected_s\n");
  for (const auto& [id, spin] : plays) {
    std::printf("%s,%.3f,%.3f,%.3f\n", std::string(index->metadata(spin.track_id)).c_str(),
                spin.start_s, spin.end_s, spin.detected_s);
  }
  std::fprintf(stderr,
               "%.0f s of audio, %.1f s without decoding (%.0f times real time), %llu searches\n",
               listener.stream_s(), busy.count(), listener.stream_s() / busy.count(),
               static_cast<unsigned long long>(listener.searches()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: spintag_track_file INDEX CATALOGUE PROGRAMME [--log]\n");
    return 2;
  }
  try {
    if (!fs::exists(argv[1])) make_index(argv[2], argv[1]);
    return track(argv[1], argv[3], argc > 4 && std::string(argv[4]) == "--log");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spintag_track_file: %s\n", error.what());
    return 1;
  }
}
