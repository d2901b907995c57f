// fingerprint/matcher.h - which track, where in it, how fast, and how sure.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fingerprint/heard.h"
#include "fingerprint/index.h"
#include "fingerprint/peak.h"

namespace spintag::fingerprint {

/// How a stretch of a query lies on a track: reference time = track_start_s + tempo * (query time -
/// start_s).
struct Alignment {
  TrackId track_id = 0;
  double start_s = 0;  ///< first query second that was looked at
  double end_s = 0;    ///< end of it
  double track_start_s =
      0;  ///< where in the track start_s falls; may be negative (the clip began before the track)
  double tempo = 1;        ///< reference seconds in a query second (`speed` in JSON)
  double pitch = 1;        ///< query frequency over reference frequency
  double score = 0;        ///< decades of evidence against chance (Chernoff bound)
  double confidence = 0;   ///< calibrated probability that the tag is right
  double found_share = 0;  ///< share of the reference's peaks that stand in the query

  double track_time(double query_s) const { return track_start_s + tempo * (query_s - start_s); }
};

struct MatchOptions {
  std::vector<Hypothesis> hypotheses =
      std::vector<Hypothesis>(1);  ///< speeds that are likely: unity, or what a station runs at
  bool any_speed = true;           ///< what they leave unknown is looked for at other speeds, tempi
                                   ///< and pitches too
  double min_confidence = 0.999;   ///< report nothing below it
  std::size_t max_matches = 4;     ///< different tracks or alignments, best first
};

/// Evidence along an alignment, second by second of the query.
struct Evidence {
  double start_s = 0;   ///< query time; one entry covers kEvidenceStep seconds
  double expected = 0;  ///< reference peaks that fall in it
  double found = 0;     ///< weight of those that stand in the query
  double chance = 0;    ///< weight that chance would give
};
inline constexpr double kEvidenceStep = 0.5;  ///< seconds

/// Where an alignment begins and ends in the query.
struct Extent {
  double start_s = 0;
  double end_s = 0;
};

/// Looks windows up in an index. Holds scratch memory: one per thread; the index may be shared.
class Matcher {
 public:
  Matcher();
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;

  /// @param heard  of a query; peaks outside [start_s, end_s) are not looked at
  /// @return alignments of at least options.min_confidence, best first; two songs on air give two
  std::vector<Alignment> match(const Index& index, const Heard& heard, double start_s, double end_s,
                               const MatchOptions& options = {});

  /// Verifies one known alignment on another window of the same query, asking the postings nothing.
  /// @return the refitted alignment over [start_s, end_s) with its score whatever it is; nullopt if
  /// the track is not in
  ///         the index or has no peak there
  std::optional<Alignment> follow(const Index& index, const Heard& heard, double start_s,
                                  double end_s, const Alignment& known);

  /// Evidence for `known` over [start_s, end_s) of the query, in steps of kEvidenceStep; steps
  /// where the track has no time (before its start, after its end) have expected = 0.
  std::vector<Evidence> trace(const Index& index, std::span<const Peak> peaks, double start_s,
                              double end_s, const Alignment& known);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

/// Walks outwards from [known.start_s, known.end_s) as long as the evidence carries, over gaps
/// (speech over music, drop-outs) of at most `bridge_s`.
Extent find_extent(std::span<const Evidence> evidence, const Alignment& known, double bridge_s);

}  // namespace spintag::fingerprint
