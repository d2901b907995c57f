// tests/bench/scale/measure.h - how near synthetic catalogues are to real music, and the work that
// a window makes.
#pragma once

#include <span>

#include "fingerprint/index.h"
#include "tests/bench/scale/catalogue.h"
#include "tests/bench/scale/music_stats.h"
#include "tests/bench/scale/windows.h"

namespace spintag::bench {

/// Prints, for the recordings that songs are made of and for `songs` synthetic songs: peaks and
/// landmarks a second; effective bits (-log2 of the probability that two draws are the same hash)
/// of landmarks of two different tracks, and of a query's hashes against landmarks; votes that a
/// window meets for each four minutes of catalogue.
/// @param others  recordings that no song is made of: the windows
void print_statistics(std::span<const MusicTrack> music, std::span<const MusicTrack> others,
                      const CatalogueParams& params, std::size_t songs, unsigned threads);

/// Prints postings that the first `sample` windows meet in sparse and dense searches, known and
/// unknown ones apart.
void print_votes(const fingerprint::Index& index, std::span<const Window> windows,
                 std::size_t sample, unsigned threads);

}  // namespace spintag::bench
