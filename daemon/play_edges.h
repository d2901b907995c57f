// daemon/play_edges.h - where a play begins and ends, to the half second, and how much of it stands
// out, from the evidence along its alignment.
#pragma once

#include <span>

#include "fingerprint/matcher.h"

namespace spintag::daemon {

/// How a song sounds through something louder (an announcer, the end of the song before): a few of
/// its peaks still stand out. find_extent() stops where these few cannot be told from chance one by
/// one; all together they can.
struct PlayEdgeParams {
  double bridge_s = 20;  ///< talk over an intro or outro lasts up to so long
  double masked_share =
      0.04;  ///< of a masked song's peaks are found, measured under speech 12 dB up
  double absent_share = 0.004;  ///< of a song's peaks are "found" when it is not on, beside chance
  /// Most plays begin with the beginning of the song: worth so much evidence (nats).
  double whole_song_prior = 1.5;
  /// ... unless the track says nothing for longer there: silence in the track agrees with any
  /// silence in the stream, and a play begins and ends where it can be heard.
  double silent_border_s = 4;
};

/// @param evidence  along `known`, contiguous; the first step may begin where the track begins
/// @param known     a stretch of it that is certain
/// @param begins    the first step is the track's own beginning
/// @param ends      the last step is the track's own end
fingerprint::Extent find_play_edges(std::span<const fingerprint::Evidence> evidence,
                                    const fingerprint::Alignment& known, bool begins, bool ends,
                                    const PlayEdgeParams& params);

/// What stands out of a play by itself.
struct Audible {
  double seconds = 0;
  /// From here on to the end of the evidence without a gap of more than two seconds. What was
  /// before, speech hid.
  double clear_from_s = 0;
};
/// @param evidence  up to now; steps before start_s do not count
Audible find_audible(std::span<const fingerprint::Evidence> evidence, double start_s);

}  // namespace spintag::daemon
