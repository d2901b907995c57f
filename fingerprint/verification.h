// fingerprint/verification.h - the decision: how many of a reference's own peaks stand in the query
// where an alignment says they should, against what chance would give. Votes only nominate.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fingerprint/peak.h"
#include "fingerprint/query_view.h"

namespace spintag::fingerprint {

/// reference time = offset_s + tempo * (seconds into the window)
struct Fit {
  double offset_s = 0;
  double tempo = 1;
  double pitch = 1;  ///< query frequency over reference frequency
};

/// What verification found for one alignment.
struct Verdict {
  Fit fit;
  double score = 0;        ///< decades
  double found_share = 0;  ///< of the reference's peaks inside the window
  double masking_db =
      0;  ///< median loss of salience of the peaks found; 0 when too few were found to say
  int expected = 0;  ///< reference peaks inside the window
};

/// A peak of a track as it stands in a query of a given pitch. A device reads it at once.
struct alignas(16) ReferencePoint {
  float time_s = 0;
  float u = 0;        ///< on the frequency scale, in the query
  float ln_freq = 0;  ///< in the track
  float salience_db = 0;
};
/// Those of a track that a window of `window_s` may meet at this fit and at any that verification
/// may move it to, at the fit's pitch; in time order. Peaks that it moves out of the profile's band
/// are left out.
std::vector<ReferencePoint> reference_points(std::span<const std::byte> packed, const Fit& fit,
                                             double window_s);

/// Moves a nominated alignment to the one of five offsets (0, +-20, +-40 ms) where most peaks
/// coincide within 32 ms x 2 u.
/// @param reference  made for fit.pitch
/// @return coincidences there
int settle_offset(const QueryView& query, std::span<const ReferencePoint> reference, Fit& fit);

/// Three rounds of weighted least squares from ever narrower ellipses, then the score. The fit
/// stays within 1.2 % of tempo and 0.7 % of pitch of where it began, and looks at no other points
/// than reference_points() of its beginning would give.
/// @param reference  made for fit.pitch
/// @param refine  false: keeps the fit as it is and only scores
Verdict verify(const QueryView& query, std::span<const ReferencePoint> reference, const Fit& fit,
               bool refine = true);

/// Those of a reference that a fit puts inside the window; in time order, as find_coincidences()
/// tells of them.
std::span<const ReferencePoint> points_inside(std::span<const ReferencePoint> reference,
                                              const Fit& fit, double window_s);

/// One reference peak inside a stretch of the query and the best counterpart it has there.
struct Coincidence {
  float query_time_s = 0;  ///< where the peak should stand, seconds into the window
  float weight = 0;        ///< 1 - d^2, d = normalised distance; 0 = none
  float chance = 0;        ///< probability that chance gives one
  float loss_db = 0;  ///< salience in the reference less salience in the query, if there is one
};
/// Coincidences of an alignment as it stands, within 25 ms x 1 u.
/// @param reference_pitch  that the reference was made for
void find_coincidences(const QueryView& query, std::span<const ReferencePoint> reference,
                       double reference_pitch, const Fit& fit, std::vector<Coincidence>& out);

}  // namespace spintag::fingerprint
