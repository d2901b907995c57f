// tests/bench/scale/measure.cpp - hash statistics of catalogues, votes of windows.
#include "tests/bench/scale/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "fingerprint/index_shard.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"
#include "fingerprint/search_plan.h"

namespace spintag::bench {
namespace {

using fingerprint::PackedPeaks;
using fingerprint::Peak;
using Profile = fingerprint::BroadcastProfile;

constexpr double kSongS = 240;

/// The searches of a small catalogue at the usual speed, sparse and dense.
std::vector<fingerprint::Search> usual_searches() {
  return fingerprint::searches_of({.any_speed = false}, 0);
}

std::vector<fingerprint::Probe> probes_of(const std::vector<Peak>& peaks,
                                          const fingerprint::Search& how) {
  std::vector<Peak> strongest;
  fingerprint::select_strongest(peaks, 0, kWindowS, how.peaks_per_s, strongest);
  std::vector<fingerprint::Probe> probes;
  fingerprint::make_query_probes(strongest, 0, {}, how.soft, probes);
  return probes;
}

/// How often each hash occurs in a catalogue.
struct Hashes {
  std::vector<std::uint32_t> count =
      std::vector<std::uint32_t>(std::size_t{1} << Profile::hash_bits);
  double landmarks = 0;
  double peaks = 0;
  double seconds = 0;
  double within_tracks = 0;    ///< pairs of one track with the same hash
  double pairs_of_tracks = 0;  ///< pairs of one track

  void add(const PackedPeaks& packed) {
    const std::vector<Peak> unpacked = fingerprint::unpack_peaks(packed);
    std::vector<fingerprint::Landmark> made;
    fingerprint::make_reference_landmarks(unpacked, made);
    std::vector<std::uint32_t> own;
    for (const fingerprint::Landmark& landmark : made) own.push_back(landmark.hash);
    std::sort(own.begin(), own.end());
    for (auto first = own.begin(); first != own.end();) {
      const auto last = std::upper_bound(first, own.end(), *first);
      const auto times = static_cast<double>(last - first);
      count[*first] += static_cast<std::uint32_t>(last - first);
      within_tracks += times * times;
      first = last;
    }
    const auto size = static_cast<double>(own.size());
    landmarks += size;
    pairs_of_tracks += size * size;
    peaks += static_cast<double>(unpacked.size());
  }
};

void print_hashes(const char* name, const Hashes& hashes,
                  std::span<const std::vector<Peak>> windows) {
  double same = -hashes.within_tracks;
  for (const std::uint32_t times : hashes.count) same += static_cast<double>(times) * times;
  const double pairs = hashes.landmarks * hashes.landmarks - hashes.pairs_of_tracks;
  std::printf("%-10s %6.2f peaks/s %6.2f landmarks/s, effective bits %.2f", name,
              hashes.peaks / hashes.seconds, hashes.landmarks / hashes.seconds,
              -std::log2(same / pairs));
  for (const fingerprint::Search& how : usual_searches()) {
    double votes = 0;
    double asked = 0;
    for (const std::vector<Peak>& window : windows) {
      for (const fingerprint::Probe& probe : probes_of(window, how)) {
        asked += probe.count;
        for (std::uint32_t k = 0; k < probe.count; ++k) votes += hashes.count[probe.hash + k];
      }
    }
    std::printf("; windows at %d peaks/s: %.0f hashes, bits %.2f, votes a song %.2f",
                how.peaks_per_s, asked / static_cast<double>(windows.size()),
                -std::log2(votes / asked / hashes.landmarks),
                votes / static_cast<double>(windows.size()) / hashes.seconds * kSongS);
  }
  std::printf("\n");
}

}  // namespace

void print_statistics(std::span<const MusicTrack> music, std::span<const MusicTrack> others,
                      const CatalogueParams& params, std::size_t songs, unsigned threads) {
  constexpr double kStepS = 15;
  std::vector<std::vector<Peak>> windows;
  for (const MusicTrack& track : others) {
    for (double from_s = 5; from_s + kWindowS < track.duration_s; from_s += kStepS) {
      std::vector<Peak>& window = windows.emplace_back();
      for (const Peak& peak : track.peaks) {
        if (peak.time_s >= from_s && peak.time_s < from_s + kWindowS)
          window.push_back({peak.time_s - from_s, peak.freq_hz, peak.salience_db});
      }
    }
  }
  std::printf("%zu recordings, %zu windows of %zu others\n", music.size(), windows.size(),
              others.size());
  {
    Hashes real;
    for (const MusicTrack& track : music) {
      real.add(fingerprint::make_reference(track.peaks));
      real.seconds += track.duration_s;
    }
    print_hashes("real", real, windows);
  }
  Hashes synthetic;
  for (const PackedPeaks& print : Catalogue(music, params).songs(songs, threads)) {
    synthetic.add(print);
    synthetic.seconds += params.song_s;
  }
  print_hashes("synthetic", synthetic, windows);
}

void print_votes(const fingerprint::Index& index, std::span<const Window> windows,
                 std::size_t sample, unsigned threads) {
  const std::size_t count = std::min(sample, windows.size());
  for (const fingerprint::Search& how : usual_searches()) {
    std::vector<std::uint64_t> votes(count);
    std::vector<std::uint64_t> asked(count);
    for_each_in_threads(count, threads, [&](std::size_t i) {
      for (const fingerprint::Probe& probe : probes_of(windows[i].peaks, how)) {
        asked[i] += probe.count;
        for (std::uint32_t k = 0; k < probe.count; ++k) {
          for (const auto& shard : index.shards())
            shard->for_each_unit(probe.hash + k, [&](std::uint32_t) { ++votes[i]; });
        }
      }
    });
    for (const bool planted : {true, false}) {
      std::vector<std::uint64_t> sorted;
      double sum = 0;
      double hashes = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (windows[i].planted != planted) continue;
        sorted.push_back(votes[i]);
        sum += static_cast<double>(votes[i]);
        hashes += static_cast<double>(asked[i]);
      }
      if (sorted.empty()) continue;
      std::sort(sorted.begin(), sorted.end());
      const auto size = static_cast<double>(sorted.size());
      std::printf(
          "votes a window, %s, %d peaks/s: mean %.0f median %llu max %llu (%.0f hashes; %zu "
          "windows)\n",
          planted ? "planted" : "unknown", how.peaks_per_s, sum / size,
          static_cast<unsigned long long>(sorted[sorted.size() / 2]),
          static_cast<unsigned long long>(sorted.back()), hashes / size, sorted.size());
    }
  }
}

}  // namespace spintag::bench
