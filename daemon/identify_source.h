// daemon/identify_source.h - files, URLs and pipes, listened to and looked up.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "daemon/extraction_service.h"
#include "daemon/match_service.h"
#include "fingerprint/cue_sheet.h"
#include "fingerprint/index.h"
#include "fingerprint/matcher.h"

namespace spintag::daemon {

struct ListenLimits {
  std::optional<double> seconds;  ///< hear no more than that; nothing = all of a file, 30 s of a
                                  ///< stream without an end
  std::stop_token stop;           ///< ends the listening; what was heard until then is looked up
};

/// What sources are looked up with. Any thread.
struct IdentifyTools {
  ExtractionService& extraction;
  MatchService& matching;
  std::shared_ptr<const fingerprint::Index> index;
  fingerprint::MatchOptions options;
};

/// What was heard, and what it is.
struct Identified {
  std::string file;       ///< as it was given
  double duration_s = 0;  ///< heard
  double elapsed_s = 0;  ///< from opening to the answer; files that are worked on side by side take
                         ///< this time together, so that it does not add up
  std::vector<fingerprint::Alignment> matches;  ///< by start_s
  std::string error;         ///< why it could not be opened, or not be heard to the end; empty =
                             ///< nothing went wrong
  bool interrupted = false;  ///< by limits.stop, before its end
};

/// Regular files are worked on side by side, one for each core (ahead of what is told, which is a
/// few kilobytes each); URLs, pipes and what cannot be opened when it is their turn. Never throws
/// for what is wrong with a source: see Identified::error.
/// @param cores  files that are decoded at a time
/// @param tell   is given each, in the order of `sources`, on the calling thread
/// @return false if limits.stop came before all of them had been heard; of an interrupted source,
/// what was heard is told
bool identify_sources(std::span<const std::string> sources, const ListenLimits& limits,
                      std::size_t cores, IdentifyTools& tools,
                      const std::function<void(const Identified&)>& tell);

}  // namespace spintag::daemon
