// fingerprint/heard.h - what there is of a query's sound: its peaks, and the levels they stand in.
#pragma once

#include <span>
#include <vector>

#include "fingerprint/level_map.h"
#include "fingerprint/peak.h"

namespace spintag::fingerprint {

/// Owns nothing; peaks alone are enough.
struct Heard {
  Heard() = default;
  Heard(std::span<const Peak> all) : peaks(all) {}     // NOLINT: a query is its peaks
  Heard(const std::vector<Peak>& all) : peaks(all) {}  // NOLINT
  Heard(std::span<const Peak> all, const LevelMap* around) : peaks(all), levels(around) {}

  std::span<const Peak> peaks;       ///< dense, in time order
  const LevelMap* levels = nullptr;  ///< null: not known; tells more surely what is hidden
};

/// What of a recording is wanted: a reference is its peaks, a query its levels too.
enum class Wanted { peaks, peaks_and_levels };

/// What a PeakExtractor makes of a recording.
struct Extraction {
  std::vector<Peak> peaks;
  LevelMap levels;  ///< empty if they were not wanted

  Heard heard() const { return {peaks, levels.frames() > 0 ? &levels : nullptr}; }
};

}  // namespace spintag::fingerprint
