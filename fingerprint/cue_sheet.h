// fingerprint/cue_sheet.h - every song in a recording, with where each begins and ends.
#pragma once

#include <span>
#include <vector>

#include "fingerprint/batch_matcher.h"
#include "fingerprint/heard.h"
#include "fingerprint/index.h"
#include "fingerprint/matcher.h"
#include "fingerprint/peak.h"

namespace spintag::fingerprint {

/// Identifies a whole recording: one window when it is short, sliding windows joined along each
/// track's own clock when it is long.
/// @param heard       of the whole recording
/// @param duration_s  its length
/// @return one alignment a stretch, ordered by start_s; start_s and end_s are where the song is
/// heard
std::vector<Alignment> make_cue_sheet(Matcher& matcher, const Index& index, const Heard& heard,
                                      double duration_s, const MatchOptions& options = {});

/// The same in two steps, so that the windows of many recordings can be looked up together.
/// @return what to ask of a Matcher or BatchMatcher; refers to what `heard` refers to
std::vector<MatchQuery> cue_windows(const Heard& heard, double duration_s);
/// @param found  what match() gave for each of cue_windows(heard, duration_s)
std::vector<Alignment> join_cue_windows(Matcher& matcher, const Index& index,
                                        std::span<const Peak> peaks, double duration_s,
                                        std::span<const std::vector<Alignment>> found);

}  // namespace spintag::fingerprint
