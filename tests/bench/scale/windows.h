// tests/bench/scale/windows.h - query windows: stretches of synthetic songs as a radio would bring
// them, and music that is not in the catalogue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/peak.h"
#include "tests/bench/scale/catalogue.h"
#include "tests/bench/scale/music_stats.h"

namespace spintag::bench {

inline constexpr double kWindowS = 10;

/// What happens to a planted window: a share of its dense peaks is lost, the rest are heard a
/// little beside where they are, and another recording plays under it.
struct Damage {
  double lost = 0.35;         ///< share of peaks
  double time_s = 0.008;      ///< up to this, either way
  double freq_hz = 1.5;       ///< up to this, either way
  double salience_db = 3;     ///< up to this, either way
  double added_share = 0.35;  ///< of another recording's peaks

  /// @return so many times as much of everything
  Damage times(double factor) const {
    return {std::min(1.0, lost * factor), time_s * factor, freq_hz * factor, salience_db * factor,
            std::min(1.0, added_share * factor)};
  }
};

/// One query of kWindowS seconds; its times begin at 0.
struct Window {
  std::vector<fingerprint::Peak> peaks;
  bool planted = false;
  std::uint64_t song = 0;  ///< of a planted one
  double from_s = 0;       ///< where in it the window begins
};

/// @param music  recordings that no song is made of: unknown windows, and what plays under others
/// @param known  share of windows that are planted
std::vector<Window> make_windows(const Catalogue& catalogue, std::size_t songs,
                                 std::span<const MusicTrack> music, std::size_t count, double known,
                                 const Damage& damage, std::uint64_t seed, unsigned threads);

}  // namespace spintag::bench
