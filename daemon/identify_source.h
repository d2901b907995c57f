// daemon/identify_source.h - one file, URL or pipe, listened to and looked up.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "fingerprint/cue_sheet.h"
#include "fingerprint/index.h"
#include "fingerprint/matcher.h"

namespace spintag::daemon {

struct ListenLimits {
  std::optional<double> seconds;  ///< hear no more than that; nothing = all of a file, 30 s of a
                                  ///< stream without an end
  std::stop_token stop;           ///< ends the listening; what was heard until then is looked up
};

/// What was heard, and what it is.
struct Identified {
  std::string file;                             ///< as it was given
  double duration_s = 0;                        ///< heard
  double elapsed_s = 0;                         ///< from opening to the answer
  std::vector<fingerprint::Alignment> matches;  ///< by start_s
  std::string error;  ///< why it could not be opened, or not be heard to the end; empty = nothing
                      ///< went wrong
};

/// Never throws for what is wrong with the source: see Identified::error.
Identified identify_source(const std::string& source, const ListenLimits& limits,
                           fingerprint::Matcher& matcher, const fingerprint::Index& index,
                           const fingerprint::MatchOptions& options);

}  // namespace spintag::daemon
