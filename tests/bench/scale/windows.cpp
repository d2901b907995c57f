// tests/bench/scale/windows.cpp - planted and unknown query windows.
#include "tests/bench/scale/windows.h"

#include <algorithm>

#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"

namespace spintag::bench {
namespace {

using fingerprint::Peak;
using Profile = fingerprint::BroadcastProfile;

/// How far unknown music is from its own speed: one recording gives many windows.
constexpr double kTempoShare = 0.04;

/// A stretch of a recording somewhere, at some speed near its own.
std::vector<Peak> unknown_peaks(std::span<const MusicTrack> music, Random& random) {
  const MusicTrack& track = music[random.below(music.size())];
  const double tempo = 1 + random.between(-kTempoShare, kTempoShare);
  const double from_s = random.between(0, std::max(0.0, track.duration_s - kWindowS * tempo));
  std::vector<Peak> peaks;
  for (const Peak& peak : track.peaks) {
    const double time_s = (peak.time_s - from_s) / tempo;
    if (time_s >= 0 && time_s < kWindowS) peaks.push_back({time_s, peak.freq_hz, peak.salience_db});
  }
  return peaks;
}

std::vector<Peak> damaged(const std::vector<Peak>& clean, std::span<const MusicTrack> music,
                          const Damage& damage, Random& random) {
  std::vector<Peak> peaks;
  for (const Peak& peak : clean) {
    if (random.share() < damage.lost) continue;
    const double time_s = peak.time_s + random.between(-damage.time_s, damage.time_s);
    const double freq_hz = peak.freq_hz + random.between(-damage.freq_hz, damage.freq_hz);
    const double salience_db =
        peak.salience_db + random.between(-damage.salience_db, damage.salience_db);
    if (time_s < 0 || time_s >= kWindowS || freq_hz < Profile::low_hz || freq_hz > Profile::high_hz)
      continue;
    peaks.push_back({time_s, static_cast<float>(freq_hz), static_cast<float>(salience_db)});
  }
  for (const Peak& peak : unknown_peaks(music, random)) {
    if (random.share() < damage.added_share) peaks.push_back(peak);
  }
  return peaks;
}

}  // namespace

std::vector<Window> make_windows(const Catalogue& catalogue, std::size_t songs,
                                 std::span<const MusicTrack> music, std::size_t count, double known,
                                 const Damage& damage, std::uint64_t seed, unsigned threads) {
  std::vector<Window> windows(count);
  for_each_in_threads(count, threads, [&](std::size_t i) {
    Random random(Random(seed).next() + i * 0x9E3779B97F4A7C15U);
    Window& window = windows[i];
    window.planted = random.share() < known;
    std::vector<Peak> peaks;
    if (window.planted) {
      window.song = random.below(songs);
      window.from_s = random.between(0, catalogue.params().song_s - kWindowS);
      peaks = damaged(catalogue.heard(window.song, window.from_s, window.from_s + kWindowS), music,
                      damage, random);
    } else {
      peaks = unknown_peaks(music, random);
    }
    std::sort(peaks.begin(), peaks.end(), [](const Peak& a, const Peak& b) {
      return a.time_s != b.time_s ? a.time_s < b.time_s : a.freq_hz < b.freq_hz;
    });
    fingerprint::select_strongest(peaks, 0, kWindowS, Profile::dense_peaks_per_s, window.peaks);
  });
  return windows;
}

}  // namespace spintag::bench
