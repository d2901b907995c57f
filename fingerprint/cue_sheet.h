// fingerprint/cue_sheet.h - every song in a recording, with where each begins and ends.
#pragma once

#include <span>
#include <vector>

#include "fingerprint/index.h"
#include "fingerprint/matcher.h"
#include "fingerprint/peak.h"

namespace spintag::fingerprint {

/// Identifies a whole recording: one window when it is short, sliding windows joined along each
/// track's own clock when it is long.
/// @param peaks       dense peaks of the whole recording, in time order
/// @param duration_s  its length
/// @return one alignment a stretch, ordered by start_s; start_s and end_s are where the song is
/// heard
std::vector<Alignment> make_cue_sheet(Matcher& matcher, const Index& index,
                                      std::span<const Peak> peaks, double duration_s,
                                      const MatchOptions& options = {});

}  // namespace spintag::fingerprint
