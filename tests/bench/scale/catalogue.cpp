// tests/bench/scale/catalogue.cpp - songs strung together from stretches of real recordings.
#include "tests/bench/scale/catalogue.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"

namespace spintag::bench {
namespace {

using fingerprint::Peak;
using Profile = fingerprint::BroadcastProfile;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return Random(Random(a).next() ^ b).next();
}

bool earlier(const Peak& a, const Peak& b) {
  return a.time_s != b.time_s ? a.time_s < b.time_s : a.freq_hz < b.freq_hz;
}

/// One stretch of a song.
struct Stretch {
  std::size_t source;
  double source_s;  ///< where in the source it begins
  double tempo;     ///< source seconds in a second of the song
  double begin_s;   ///< in the song
  double end_s;
  std::uint64_t seed;  ///< of its peaks
};

std::vector<Stretch> stretches(std::uint64_t seed, const CatalogueParams& params,
                               const std::vector<MusicTrack>& sources) {
  Random random(seed);
  std::vector<Stretch> all;
  for (double at = 0; at < params.song_s;) {
    Stretch stretch{};
    stretch.begin_s = at;
    at = std::min(params.song_s, at + random.between(params.shortest_s, params.longest_s));
    stretch.end_s = at;
    stretch.source = random.below(sources.size());
    stretch.tempo = 1 + random.between(-params.tempo_share, params.tempo_share);
    const double longest = params.longest_s * (1 + params.tempo_share);
    stretch.source_s =
        random.between(0, std::max(0.0, sources[stretch.source].duration_s - longest));
    stretch.seed = random.next();
    all.push_back(stretch);
  }
  return all;
}

/// A peak's moves follow from what it is, so that a reference and a query agree on them.
Peak moved(const Peak& peak, const Stretch& stretch, const CatalogueParams& params) {
  const auto name = static_cast<std::uint64_t>(peak.time_s * 1000 + 0.5) << 32 |
                    static_cast<std::uint64_t>(peak.freq_hz * 10 + 0.5);
  Random random(stretch.seed + name * 0xD6E8FEB86659FD93U);
  const double pitch = 1 + random.between(-params.peak_pitch, params.peak_pitch);
  const double time = stretch.begin_s + (peak.time_s - stretch.source_s) / stretch.tempo +
                      random.between(-params.peak_time_s, params.peak_time_s);
  return {time, static_cast<float>(peak.freq_hz * pitch), peak.salience_db};
}

}  // namespace

Catalogue::Catalogue(std::span<const MusicTrack> music, const CatalogueParams& params)
    : params_(params), dense_(music.begin(), music.end()), strongest_(dense_) {
  for (MusicTrack& track : strongest_) {
    const std::vector<Peak> all = std::move(track.peaks);
    fingerprint::select_strongest(all, 0, track.duration_s + 1, params.candidates_per_second,
                                  track.peaks);
  }
}

std::vector<Peak> Catalogue::play(std::uint64_t number, double from_s, double to_s,
                                  const std::vector<MusicTrack>& sources) const {
  std::vector<Peak> peaks;
  for (const Stretch& stretch : stretches(mixed(params_.seed, number), params_, sources)) {
    if (stretch.end_s <= from_s || stretch.begin_s >= to_s) continue;
    const std::vector<Peak>& source = sources[stretch.source].peaks;
    const double end_s = stretch.source_s + (stretch.end_s - stretch.begin_s) * stretch.tempo;
    auto peak = std::lower_bound(source.begin(), source.end(), stretch.source_s,
                                 [](const Peak& one, double time) { return one.time_s < time; });
    for (; peak != source.end() && peak->time_s < end_s; ++peak) {
      const Peak there = moved(*peak, stretch, params_);
      const bool audible = there.freq_hz >= Profile::low_hz && there.freq_hz <= Profile::high_hz;
      if (audible && there.time_s >= std::max(0.0, from_s) && there.time_s < to_s)
        peaks.push_back(there);
    }
  }
  std::sort(peaks.begin(), peaks.end(), earlier);
  return peaks;
}

fingerprint::PackedPeaks Catalogue::song(std::uint64_t number) const {
  return fingerprint::make_reference(play(number, 0, params_.song_s, strongest_));
}

std::vector<fingerprint::PackedPeaks> Catalogue::songs(std::size_t count, unsigned threads) const {
  std::vector<fingerprint::PackedPeaks> prints(count);
  for_each_in_threads(count, threads, [&](std::size_t i) { prints[i] = song(i); });
  return prints;
}

std::vector<Peak> Catalogue::heard(std::uint64_t number, double from_s, double to_s) const {
  std::vector<Peak> peaks = play(number, from_s, to_s, dense_);
  for (Peak& peak : peaks) peak.time_s -= from_s;
  return peaks;
}

void for_each_in_threads(std::size_t count, unsigned threads,
                         const std::function<void(std::size_t)>& job) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) job(i);
    });
  }
}

}  // namespace spintag::bench
