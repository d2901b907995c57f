// tests/bench/scale/catalogue.h - any number of songs with the hash statistics of real music.
//
// A song strings together stretches of 2 to 4 s of real recordings' dense peaks. Each stretch runs
// a little faster or slower, and each of its peaks moves by itself a few milliseconds and a few
// cents. The strongest peaks then become a reference by the ordinary code.
//
// What this keeps, and how well, `spintag_scale_bench --measure` prints: peaks and landmarks a
// second, the effective bits of the hashes, the votes that a window of real music meets. Nothing
// moves by semitones: music crowds on the notes of its scales, and a move that takes peaks off the
// notes that other music uses takes away a third of the votes. What it breaks: two songs that hold
// the same stretch agree on too few pairs for too short to be taken for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fingerprint/peak.h"
#include "fingerprint/reference.h"
#include "tests/bench/scale/music_stats.h"

namespace spintag::bench {

struct CatalogueParams {
  std::uint64_t seed = 1;
  double song_s = 240;
  double shortest_s = 2;  ///< of a stretch
  double longest_s = 4;
  double tempo_share = 0.04;       ///< a stretch is up to so much faster or slower
  double peak_time_s = 0.025;      ///< a peak moves by up to this
  double peak_pitch = 0.0015;      ///< and by up to this share of its frequency
  int candidates_per_second = 24;  ///< strongest dense peaks that a reference is chosen from
};

/// Songs are made when they are asked for; the same number and seed give the same song. Any number
/// of threads.
class Catalogue {
 public:
  /// @param music  must outlive this
  Catalogue(std::span<const MusicTrack> music, const CatalogueParams& params);

  /// The reference that the index is told.
  fingerprint::PackedPeaks song(std::uint64_t number) const;
  /// Songs 0 to count - 1.
  std::vector<fingerprint::PackedPeaks> songs(std::size_t count, unsigned threads) const;
  /// What a clean query of [from_s, to_s) of the song hears, in time order; times from from_s.
  std::vector<fingerprint::Peak> heard(std::uint64_t number, double from_s, double to_s) const;

  const CatalogueParams& params() const { return params_; }

 private:
  std::vector<fingerprint::Peak> play(std::uint64_t number, double from_s, double to_s,
                                      const std::vector<MusicTrack>& sources) const;

  CatalogueParams params_;
  std::vector<MusicTrack> dense_;
  std::vector<MusicTrack> strongest_;  ///< the same tracks, candidates alone
};

/// A stream of random numbers that a number names (SplitMix64, Steele et al. 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
  }
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }  ///< [0, 1)
  double between(double low, double high) { return low + (high - low) * share(); }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(share() * static_cast<double>(count));
  }

 private:
  std::uint64_t state_;
};

/// Calls job(i) for every i below count, from so many threads (0 = one for each core).
void for_each_in_threads(std::size_t count, unsigned threads,
                         const std::function<void(std::size_t)>& job);

}  // namespace spintag::bench
